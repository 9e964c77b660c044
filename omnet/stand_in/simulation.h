// The event loop of the stand-in: the network's arrivals and the collector's moments, in order.
#pragma once

#include "client/client.h"
#include "client/collector.h"
#include "stand_in/network.h"
#include "stand_in/script.h"

namespace roambus::stand_in {

class Simulation {
public:
    Simulation(const Script& script, Client& client);

    // From Hello to Goodbye; throws BridgeError.
    void run();

private:
    Reply step(Step& step);
    void run_events(Collector& collector);
    void act(SimTime now, Collector& collector);
    void deliver(SimTime now, Collector& collector);
    Quiet outlook() const;
    bool refuses(NodeId node, SimTime now);

    Script script_;
    Client& client_;
    Network network_;
};

}  // namespace roambus::stand_in
