/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_flows.cpp - the flows of bench_network.c under SimGrid's S4U, for comparison.
 *
 *   simgrid_flows FILE OPTIM: lines "link BYTES_PER_S", then "flow BYTES START_S LINK ..."; OPTIM is
 *   a value of network/optim, Lazy (SimGrid's default) or Full
 * Prints CPU seconds of the simulation (without reading and building) and the makespan. Max-min
 * fairness alone: CM02 without cross traffic and without the terms for TCP windows. */
#include <ctime>
#include <fstream>
#include <iostream>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static double cpu_seconds()
{
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

static void send(sg4::Mailbox *box, double bytes, double start)
{
    static int payload = 0;
    if (start > 0)
        sg4::this_actor::sleep_until(start);
    box->put(&payload, static_cast<uint64_t>(bytes));
}

static void receive(sg4::Mailbox *box)
{
    box->get<int>();
}

/* Each flow has two hosts of its own, joined by its route. */
static void add_flow(sg4::NetZone *zone, const std::vector<const sg4::Link *> &route, double bytes,
                     double start, int number)
{
    std::string name = std::to_string(number);
    sg4::Host *from = zone->create_host("from" + name, 1e9),
              *to = zone->create_host("to" + name, 1e9);
    std::vector<sg4::LinkInRoute> links;
    for (const sg4::Link *l : route)
        links.emplace_back(l);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, links, false);
    sg4::Mailbox *box = sg4::Mailbox::by_name(name);
    sg4::Actor::create("send" + name, from, send, box, bytes, start);
    sg4::Actor::create("receive" + name, to, receive, box);
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    for (const char *option :
         {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
          "network/latency-factor:1.0", "network/bandwidth-factor:1.0", "network/weight-S:0",
          "contexts/stack-size:64"})
        sg4::Engine::set_config(option);
    sg4::Engine::set_config(std::string("network/optim:") + (argc > 2 ? argv[2] : "Lazy"));
    sg4::NetZone *zone = sg4::create_full_zone("zone");
    std::vector<const sg4::Link *> links;
    std::ifstream file(argc > 1 ? argv[1] : "/dev/stdin");
    std::string line, what;
    for (int n_flows = 0; std::getline(file, line);) {
        std::istringstream words(line);
        double amount;
        words >> what >> amount;
        if (what == "link") {
            links.push_back(zone->create_link("link" + std::to_string(links.size()), amount)
                                ->set_latency(0)
                                ->seal());
            continue;
        }
        double start_s;
        words >> start_s;
        std::vector<const sg4::Link *> route;
        for (size_t l; words >> l;)
            route.push_back(links.at(l));
        add_flow(zone, route, amount, start_s, n_flows++);
    }
    zone->seal();
    double start = cpu_seconds();
    engine.run();
    std::cout.precision(17);
    std::cout << cpu_seconds() - start << " " << sg4::Engine::get_clock() << "\n";
    return 0;
}
