/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/min_max.h"
#include "base/units.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"

enum { UNTOUCHED = -12345 };

typedef int parser(const char *text, int64_t *out, th_error *err);

static int64_t value_of(parser *parse, const char *text)
{
    int64_t value = UNTOUCHED;
    th_error e = {"", ""};
    if (parse(text, &value, &e) != 0)
        printf("# %s\n", e.text);
    return value;
}

TEST(parses_times)
{
    CU_ASSERT_EQUAL(value_of(th_parse_time, "7ps"), 7);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "3ns"), 3000);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "1.5us"), 1500000);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "+2.25 ms"), 2250000000);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "1e-3s"), 1000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_time, ".5E+1s"), 5 * TH_PS_PER_S);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "0"), 0);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "-0.0us"), 0);
}

TEST(rounds_half_upwards_once)
{
    CU_ASSERT_EQUAL(value_of(th_parse_time, "0.5ps"), 1);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "0.4999999999999999999ps"), 0);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "2.45ps"), 2); /* not 2.45 -> 2.5 -> 3 */
    CU_ASSERT_EQUAL(value_of(th_parse_time, "1.2345ns"), 1235);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "1e-9999s"), 0);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "0.33333333333333333333333333333333s"), 333333333333);
}

TEST(parses_sizes)
{
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "17B"), 17);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "1.5kB"), 1500);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "64GiB"), 64LL << 30);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "64GB"), 64000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "1.5KiB"), 1536);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "3MB"), 3000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "3MiB"), 3145728);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "2TiB"), 2LL << 40);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "2TB"), 2000000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "1PB"), 1000000000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "0"), 0);
}

TEST(parses_bandwidths)
{
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "8Gbps"), 8000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "8Gb/s"), 8000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "16GB/s"), 128000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "16GiB/s"), 16LL * 8 << 30);
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "9600bps"), 9600);
    CU_ASSERT_EQUAL(value_of(th_parse_bandwidth, "2.5Tbps"), 2500000000000);
}

TEST(parses_frequencies)
{
    CU_ASSERT_EQUAL(value_of(th_parse_frequency, "200MHz"), 200000000);
    CU_ASSERT_EQUAL(value_of(th_parse_frequency, "1.41GHz"), 1410000000);
    CU_ASSERT_EQUAL(value_of(th_parse_frequency, "32.768kHz"), 32768);
    CU_ASSERT_EQUAL(value_of(th_parse_frequency, "0.5Hz"), 1);
}

/* All digits count: a factor that was written is read back as it was. */
TEST(parses_and_writes_factors)
{
    static const double factors[] = {0, 0.5, 1, 1000, 1.0 / 3, 0.1, 1e-9, 123456789};
    char text[64];
    double factor = -1;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        CU_ASSERT_EQUAL(
            th_parse_factor(th_format_factor(factors[i], text, sizeof text), &factor, NULL), 0);
        CU_ASSERT_EQUAL(factor, factors[i]);
    }
    TAP_ASSERT_TEXT(th_format_factor(0.5, text, sizeof text), "x0.5");
    static const char *const wrong[] = {"0.5",  "x",      "x-1",  "x0.5 ", "x0x1",
                                        "xnan", "x1e999", "0.5x", "x.",    ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_parse_factor(wrong[i], &factor, &e), -1);
        TAP_ASSERT_TEXT(e.id, "BASE-0009");
    }
}

TEST(parses_energies_and_powers)
{
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "0.9pJ"), 900000);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "1.95nJ"), 1950000000);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "3uJ"), 3000000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "2.5mJ"), 2500000000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "7fJ"), 7000);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "9.223372036854775807J"), INT64_MAX);
    CU_ASSERT_EQUAL(value_of(th_parse_energy, "0"), 0);
    CU_ASSERT_EQUAL(value_of(th_parse_power, "2W"), 2000000000);
    CU_ASSERT_EQUAL(value_of(th_parse_power, "0.5mW"), 500000);
    CU_ASSERT_EQUAL(value_of(th_parse_power, "1.5kW"), 1500000000000);
}

TEST(reaches_the_limits)
{
    CU_ASSERT_EQUAL(value_of(th_parse_time, "9223372036854775807ps"), INT64_MAX);
    CU_ASSERT_EQUAL(value_of(th_parse_time, "9223372.036854775807s"), INT64_MAX);
    CU_ASSERT_EQUAL(value_of(th_parse_bytes, "9.223372036854775807e18B"), INT64_MAX);
}

/* What cannot be parsed leaves the value alone. */
static int refuse(parser *parse, const char *text, th_error *e)
{
    int64_t value = UNTOUCHED;
    int failed = parse(text, &value, e);
    CU_ASSERT_EQUAL(value, UNTOUCHED);
    CU_ASSERT_EQUAL(parse(text, &value, NULL), -1);
    return failed;
}

TEST(minutes_hours_and_days_are_times)
{
    th_time ps = 0;
    CU_ASSERT_EQUAL(th_parse_time("1.5min", &ps, NULL), 0);
    CU_ASSERT_EQUAL(ps, 90 * TH_PS_PER_S);
    CU_ASSERT_EQUAL(th_parse_time("2h", &ps, NULL), 0);
    CU_ASSERT_EQUAL(ps, 7200 * TH_PS_PER_S);
    CU_ASSERT_EQUAL(th_parse_time("106d", &ps, NULL), 0);
    CU_ASSERT_EQUAL(ps, 106 * 86400 * TH_PS_PER_S);
    CU_ASSERT_EQUAL(th_parse_time("107d", &ps, NULL), -1);
}

TEST(percentages_have_their_sign)
{
    static const char *const wrong[] = {"20", "%", "20 %", "20%%", "x%", "inf%", "nan%", ""};
    double share = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(th_parse_percent(wrong[i], &share), -1);
    CU_ASSERT_EQUAL(share, 7);
    CU_ASSERT_EQUAL(th_parse_percent("-12.5%", &share), 0);
    CU_ASSERT_EQUAL(share, -0.125);
}

#define REFUSED(NAME)                                                                              \
    static int refuse_##NAME(const char *text, th_error *e)                                        \
    {                                                                                              \
        return refuse(th_parse_##NAME, text, e);                                                   \
    }
REFUSED(time)
REFUSED(bytes)
REFUSED(bandwidth)
REFUSED(frequency)
REFUSED(energy)
REFUSED(power)

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"time", refuse_time},
                                              {"bytes", refuse_bytes},
                                              {"bandwidth", refuse_bandwidth},
                                              {"frequency", refuse_frequency},
                                              {"energy", refuse_energy},
                                              {"power", refuse_power},
                                              {NULL, NULL}};
    assert_refusals("base/units.refused", readers);
}

/* 1,000,003 bytes at 7 Gbps: 8,000,024 bits * 1e12 / 7e9 = 1,142,860,571.43 ps. */
TEST(rounds_durations_up)
{
    CU_ASSERT_EQUAL(th_duration_ps(1000003, 7000000000), 1142860572);
    CU_ASSERT_EQUAL(th_duration_ps(0, 7000000000), 0);
    CU_ASSERT_EQUAL(th_duration_ps(1, 8000000000), 1000);
    CU_ASSERT_EQUAL(th_duration_ps(1, INT64_MAX), 1);
}

/* 2 MB * 8e12 exceeds 64 bits; 2^50 bytes at 1 Tbps: 2^53 bits = 2^53 ps. */
TEST(durations_need_128_bits)
{
    CU_ASSERT_EQUAL(th_duration_ps(2000000, 16000000000), 1000000000);
    CU_ASSERT_EQUAL(th_duration_ps(1LL << 50, 1000000000000), 1LL << 53);
    CU_ASSERT_EQUAL(th_duration_ps(INT64_MAX, 1), TH_TIME_MAX);
    CU_ASSERT_EQUAL(th_duration_ps(INT64_MAX, INT64_MAX), 8 * TH_PS_PER_S);
}

/* 1000 cycles at 300 MHz: 3,333,333.3 ps. */
TEST(counts_cycles)
{
    CU_ASSERT_EQUAL(th_cycles_ps(1000, 300000000), 3333334);
    CU_ASSERT_EQUAL(th_cycles_ps(123456789012, 200000000), 617283945060000);
    CU_ASSERT_EQUAL(th_cycles_ps(INT64_MAX, 1), TH_TIME_MAX);
}

TEST(formats_times)
{
    char t[40];
    TAP_ASSERT_TEXT(th_format_time(0, t, sizeof t), "0s");
    TAP_ASSERT_TEXT(th_format_time(999, t, sizeof t), "999ps");
    TAP_ASSERT_TEXT(th_format_time(1000, t, sizeof t), "1ns");
    TAP_ASSERT_TEXT(th_format_time(1500000, t, sizeof t), "1.5us");
    TAP_ASSERT_TEXT(th_format_time(12345678901, t, sizeof t), "12.3457ms");
    TAP_ASSERT_TEXT(th_format_time(999999999, t, sizeof t), "1ms"); /* not 1000us */
    TAP_ASSERT_TEXT(th_format_time(61 * TH_PS_PER_S, t, sizeof t), "61s");
}

TEST(formats_sizes)
{
    char t[40];
    TAP_ASSERT_TEXT(th_format_bytes(0, t, sizeof t), "0B");
    TAP_ASSERT_TEXT(th_format_bytes(1000, t, sizeof t), "1kB");
    TAP_ASSERT_TEXT(th_format_bytes(1024, t, sizeof t), "1KiB");
    TAP_ASSERT_TEXT(th_format_bytes(1LL << 30, t, sizeof t), "1GiB");
    TAP_ASSERT_TEXT(th_format_bytes(1536 << 10, t, sizeof t), "1.5MiB");
    TAP_ASSERT_TEXT(th_format_bytes(1500000, t, sizeof t), "1.5MB");
    TAP_ASSERT_TEXT(th_format_bytes(64000, t, sizeof t), "64kB"); /* 62.5KiB is longer */
    TAP_ASSERT_TEXT(th_format_bytes(1234567, t, sizeof t), "1.23457MB");
}

TEST(formats_energies)
{
    char text[40];
    TAP_ASSERT_TEXT(th_format_energy(0, text, sizeof text), "0J");
    TAP_ASSERT_TEXT(th_format_energy(0.9e-12, text, sizeof text), "900fJ");
    TAP_ASSERT_TEXT(th_format_energy(1.5e-12, text, sizeof text), "1.5pJ");
    TAP_ASSERT_TEXT(th_format_energy(205.12504e-6, text, sizeof text), "205.125uJ");
    TAP_ASSERT_TEXT(th_format_energy(0.9999999, text, sizeof text), "1J");
    TAP_ASSERT_TEXT(th_format_energy(12345678e3, text, sizeof text), "12345.7MJ");
}

TEST(formats_rates)
{
    char t[40];
    TAP_ASSERT_TEXT(th_format_bandwidth(8000000000, t, sizeof t), "8Gbps");
    TAP_ASSERT_TEXT(th_format_bandwidth(9600, t, sizeof t), "9.6kbps");
    TAP_ASSERT_TEXT(th_format_bandwidth(3600000000000, t, sizeof t), "450GB/s");
    TAP_ASSERT_TEXT(th_format_bandwidth(14400000000001, t, sizeof t), "14.4Tbps");
    TAP_ASSERT_TEXT(th_format_byte_rate(128000000000, t, sizeof t), "16GB/s");
    TAP_ASSERT_TEXT(th_format_byte_rate(9, t, sizeof t), "9bps");
    TAP_ASSERT_TEXT(th_format_frequency(200000000, t, sizeof t), "200MHz");
    TAP_ASSERT_TEXT(th_format_frequency(1, t, sizeof t), "1Hz");
}

TEST(cuts_to_the_room_given)
{
    char t[4];
    TAP_ASSERT_TEXT(th_format_time(1500000, t, sizeof t), "1.5");
    TAP_ASSERT_TEXT(th_format_bytes(1500000, t, sizeof t), "1.5");
}

TEST(sums_of_times_saturate)
{
    CU_ASSERT_EQUAL(th_time_add(70, 8), 78);
    CU_ASSERT_EQUAL(th_time_add(TH_TIME_MAX - 5, 4), TH_TIME_MAX - 1);
    CU_ASSERT_EQUAL(th_time_add(TH_TIME_MAX - 5, 6), TH_TIME_MAX);
    CU_ASSERT_EQUAL(th_time_add(TH_TIME_MAX, TH_TIME_MAX), TH_TIME_MAX);
    CU_ASSERT_EQUAL(th_time_add(0, TH_TIME_MAX), TH_TIME_MAX);
}

/* In the type of the sum, so that no bit is lost where the two differ. */
TEST(min_and_max_of_mixed_types)
{
    int32_t few = -7;
    int64_t many = (int64_t)1 << 40;
    CU_ASSERT_EQUAL(th_min(few, 3), -7);
    CU_ASSERT_EQUAL(th_max(few, 3), 3);
    CU_ASSERT_EQUAL(th_max(few, many), many);
    CU_ASSERT_EQUAL(th_min(many, few), -7);
    CU_ASSERT_EQUAL(th_max(many + 1, many), many + 1);
    CU_ASSERT_EQUAL(th_min(0.5, few + 8), 0.5);
    CU_ASSERT_EQUAL(th_max(-0.5, 0), 0.0);
    CU_ASSERT_EQUAL(sizeof th_min(few, 3), sizeof(int32_t));
}

static void assert_suggests(parser *parse, const char *written, const char *meant)
{
    int64_t value;
    char text[40], wanted[60];
    th_error e = {"", ""};
    snprintf(text, sizeof text, "3%s", written);
    snprintf(wanted, sizeof wanted, "did you mean \"%s\"?", meant);
    bool is_refused = parse(text, &value, &e) != 0;
    CU_ASSERT(is_refused && strstr(e.text, wanted));
    if (!is_refused || !strstr(e.text, wanted))
        printf("# %s: %s\n", text, e.text);
}

TEST(suggests_the_unit_that_was_meant)
{
    assert_suggests(th_parse_bandwidth, "gbps", "Gbps");
    assert_suggests(th_parse_bandwidth, "GBps", "GB/s"); /* not Gbps: an eighth of it */
    assert_suggests(th_parse_bandwidth, "gB/s", "GB/s");
    assert_suggests(th_parse_bandwidth, "GB", "GB/s");
    assert_suggests(th_parse_bandwidth, "Gb", "Gb/s");
    assert_suggests(th_parse_bandwidth, "Gbit/s", "Gb/s");
    assert_suggests(th_parse_bandwidth, "Mbytes/s", "MB/s");
    assert_suggests(th_parse_bytes, "M", "MB");
    assert_suggests(th_parse_bytes, "Ki", "KiB");
    assert_suggests(th_parse_bytes, "gib", "GiB");
    assert_suggests(th_parse_bytes, "Mbytes", "MB");
    assert_suggests(th_parse_time, "\xc2\xb5s", "us");
    assert_suggests(th_parse_time, "usec", "us");
    assert_suggests(th_parse_duration, "Hours", "h");
    assert_suggests(th_parse_frequency, "mhz", "MHz");
    assert_suggests(th_parse_energy, "pj", "pJ");
}

/* Whatever is far from every unit is answered with the list alone. */
TEST(suggests_nothing_for_other_words)
{
    static const char *const words[] = {"foo", "GHz/s", "Gbpss", "aVeryLongUnitThatEndsInB/s", "/"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int64_t value;
        char text[60];
        th_error e = {"", ""};
        snprintf(text, sizeof text, "3%s", words[i]);
        CU_ASSERT(th_parse_bandwidth(text, &value, &e) != 0 && !strstr(e.text, "did you mean"));
    }
}

TAP_MAIN("units")
