/* SPDX-License-Identifier: GPL-3.0-or-later */
/* messages.h - the messages of a run one by one: its transfers in the order of their tasks, then
 * the messages of collectives in the order of their starts. A run does not keep these: where there
 * are collectives it is repeated, up to where it stands, with an observer. */
#ifndef TH_SESSION_MESSAGES_H
#define TH_SESSION_MESSAGES_H
#include "session/session.h"

/* Of the present run, kept until it moves; none where there is no run. NULL on failure. */
const th_sent_messages *th_session_messages(th_session *s, th_error *err);

#endif
