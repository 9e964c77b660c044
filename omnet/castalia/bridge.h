#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <omnetpp.h>

#include "client/client.h"
#include "client/collector.h"
#include "client/connection.h"

#include "outlook.h"
#include "places.h"

namespace roambus {

class BridgeApplication;

// The network's only connection to the host: says Hello before anything else happens, reports what the nodes receive,
// and has them send what the agents want sent, each at its time. Any trouble with the host is a cRuntimeError.
class Bridge : public omnetpp::cSimpleModule {
public:
    // The network's bridge; made at the first call.
    static Bridge& of(omnetpp::cModule& network);

    // Tells the host, if the run is not over for it.
    ~Bridge() override;

    // Makes an application known, before the simulation starts.
    void enlist(BridgeApplication& application);

    // A node has received a packet of `sender`, now.
    void arrived(NodeId sender, const Payload& payload, const Reception& reception);

    // An application has refused packets, to be taken at the end of this instant.
    void settle();

protected:
    void initialize() override;
    void handleMessage(omnetpp::cMessage* message) override;
    void finish() override;

private:
    void dispatch(const omnetpp::cMessage& message);
    void open();
    Run run() const;
    Collector collector_of(const Run& run, const Welcome& welcome);
    void check_applications() const;
    SimTime processing_delay() const;
    Reply step(Step& step);
    void steer(const Course& course);
    void act();
    void take_refused();
    void look_around();
    void schedule_act();
    void say_goodbye();
    Finished totals();

    omnetpp::cMessage* open_ = nullptr;
    omnetpp::cMessage* act_ = nullptr;
    omnetpp::cMessage* settle_ = nullptr;
    omnetpp::cMessage* look_ = nullptr;
    std::optional<Moment> scheduled_;  // where `act_` is

    SimTime time_limit_ = 0;
    bool tells_moves_ = false;
    std::vector<BridgeApplication*> applications_;  // by node
    Places places_;
    std::unique_ptr<Channel> connection_;
    std::unique_ptr<Client> client_;
    std::unique_ptr<Collector> collector_;
    std::unique_ptr<CastaliaOutlook> outlook_;
};

}  // namespace roambus
