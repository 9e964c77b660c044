#include "bridge.h"

#include <algorithm>
#include <climits>
#include <string>
#include <utility>

#include "agent_mobility_manager.h"
#include "boot_times.h"
#include "bridge_application.h"
#include "client/errors.h"
#include "client/session_file.h"
#include "ini_settings.h"

namespace roambus {

Define_Module(Bridge);

namespace {

constexpr char kName[] = "bridge";
constexpr char kType[] = "roambus.Bridge";
constexpr char kSimulator[] = "OMNeT++ " ROAMBUS_OMNETPP_RELEASE ", Castalia";

// OMNeT++ handles the events of one time by priority, the smallest first; everything of Castalia has 0.
constexpr short kFirst = SHRT_MIN;
constexpr short kLast = SHRT_MAX;
constexpr short kBeforeLast = SHRT_MAX - 1;

constexpr int kLookInterval = 1;  // s

// Calls, and turns an error of the bridge into one that OMNeT++ reports.
template <typename Call>
void report_errors(Call call) {
    try {
        call();
    } catch (const BridgeError& error) {
        throw omnetpp::cRuntimeError("%s", error.what());
    }
}

omnetpp::cMessage* self_message(const char* name, short priority) {
    auto* message = new omnetpp::cMessage(name);
    message->setSchedulingPriority(priority);
    return message;
}

}  // namespace

Bridge& Bridge::of(omnetpp::cModule& network) {
    omnetpp::cModule* bridge = network.getSubmodule(kName);
    if (!bridge) {
        bridge = omnetpp::cModuleType::get(kType)->create(kName, &network);
        bridge->finalizeParameters();
        bridge->buildInside();  // the network initialises it after the nodes, together with itself
    }
    return *omnetpp::check_and_cast<Bridge*>(bridge);
}

Bridge::~Bridge() {
    if (client_)
        client_->fail("the simulation ended with an error, which its own output tells");
    for (omnetpp::cMessage* message : {open_, act_, settle_, look_})
        cancelAndDelete(message);
}

void Bridge::enlist(BridgeApplication& application) {
    std::size_t node = application.node();
    if (applications_.size() <= node)
        applications_.resize(node + 1);
    applications_[node] = &application;
}

void Bridge::initialize() {
    open_ = self_message("open", kFirst);
    act_ = self_message("act", kFirst);
    settle_ = self_message("settle", kBeforeLast);
    look_ = self_message("look", kBeforeLast);
    scheduleAt(omnetpp::simTime(), open_);
}

void Bridge::handleMessage(omnetpp::cMessage* message) {
    report_errors([&] { dispatch(*message); });
}

void Bridge::dispatch(const omnetpp::cMessage& message) {
    if (&message == open_)
        open();
    else if (&message == act_)
        act();
    else if (&message == settle_)
        take_refused();
    else
        look_around();
}

void Bridge::open() {
    check_applications();
    outlook_ = std::make_unique<CastaliaOutlook>(applications_);
    Run run = this->run();
    time_limit_ = run.time_limit;
    Session session = read_session(session_path(ini_folder()));
    connection_ = std::make_unique<Connection>(session);
    client_ = std::make_unique<Client>(*connection_, session.token);
    Welcome welcome = client_->hello(run);
    collector_ = std::make_unique<Collector>(collector_of(run, welcome));
    for (BridgeApplication* application : applications_)
        places_.add(application->node(), application->mobility());
    tells_moves_ = welcome.moves;
    look_around();
    schedule_act();
}

Collector Bridge::collector_of(const Run& run, const Welcome& welcome) {
    return {run, welcome, [this](Step& step) { return this->step(step); }, [this] { return outlook_->now(); }};
}

Run Bridge::run() const {
    check_time_resolution();
    Run run{kSimulator, ini_seed(), ini_time_limit(), processing_delay(), {}, false, outlook_->transit(), outlook_->framing(), true};
    std::vector<SimTime> starts = boot_times(applications_);
    for (BridgeApplication* application : applications_) {
        run.nodes.push_back({starts[application->node()], application->clock_rate()});
        run.wants_notes = run.wants_notes || application->wants_notes();
    }
    return run;
}

void Bridge::check_applications() const {
    int nodes = getParentModule()->par("numNodes");
    for (int node = 0; node < nodes; ++node)
        if (static_cast<std::size_t>(node) >= applications_.size() || !applications_[node])
            throw omnetpp::cRuntimeError("node %d has no BridgeApplication: either all nodes have one or none", node);
}

SimTime Bridge::processing_delay() const {
    SimTime delay = applications_.front()->processing_delay();
    for (const BridgeApplication* application : applications_)
        if (application->processing_delay() != delay)
            throw omnetpp::cRuntimeError("node %u has a processingDelay of its own: all nodes must have the same",
                                         application->node());
    return delay;
}

Reply Bridge::step(Step& step) {
    if (tells_moves_) {
        step.moves = places_.news(step.now);
        if (step.quiet)
            step.quiet->until = std::min(step.quiet->until, places_.told_until());
    }
    Reply reply = client_->step(step);
    for (const Note& note : reply.notes)
        applications_[note.node]->note(note.text);
    for (const Course& course : reply.courses)
        steer(course);
    return reply;
}

void Bridge::steer(const Course& course) {
    auto* manager = dynamic_cast<AgentMobilityManager*>(&applications_[course.node]->mobility());
    if (!manager)
        throw omnetpp::cRuntimeError("the host moves node %u, whose MobilityManagerName is not AgentMobilityManager",
                                     course.node);
    manager->steer(course);
}

void Bridge::arrived(NodeId sender, const Payload& payload, const Reception& reception) {
    Enter_Method_Silent();
    collector_->arrived(omnetpp::simTime().raw(), sender, payload, reception);
    schedule_act();
}

void Bridge::settle() {
    Enter_Method_Silent();
    if (!settle_->isScheduled())
        scheduleAt(omnetpp::simTime(), settle_);
}

void Bridge::take_refused() {
    for (BridgeApplication* application : applications_)
        for (Failure& failure : application->take_refused())
            collector_->failed(std::move(failure));
    schedule_act();
}

void Bridge::act() {
    scheduled_.reset();
    for (const Send& send : collector_->act())
        if (std::optional<Failure> failure = applications_[send.node]->transmit(send))
            collector_->failed(std::move(*failure));
    schedule_act();
}

void Bridge::schedule_act() {
    std::optional<Moment> next = collector_->next();
    if (next == scheduled_)
        return;
    cancelEvent(act_);
    scheduled_ = next;
    if (!next)
        return;
    act_->setSchedulingPriority(next->turn == Turn::kFirst ? kFirst : kLast);
    scheduleAt(omnetpp::SimTime::fromRaw(next->time), act_);
}

void Bridge::look_around() {
    outlook_->look();
    scheduleAt(omnetpp::simTime() + kLookInterval, look_);
}

void Bridge::finish() {
    if (!collector_)
        return;
    report_errors([this] {
        if (omnetpp::simTime().raw() < time_limit_)
            client_->fail("the simulation was ended at " + omnetpp::simTime().str() + " s, before its time limit");
        else
            say_goodbye();
    });
}

void Bridge::say_goodbye() {
    collector_->finish();
    client_->finish(totals());
}

// The network finishes the bridge last: the resource managers' energy is up to date by now.
Finished Bridge::totals() {
    Count offered{"offered", {}}, overflown{"mac_overflown", {}}, received{"received", {}}, spilt{"radio_overflown", {}}, died{"died_ns", {}};
    bool anybody_died = false, anything_spilt = false;
    Finished totals{collector_->sends(), collector_->deliveries(), {}, {}, {}};
    for (BridgeApplication* application : applications_) {
        offered.values.push_back(application->offered());
        overflown.values.push_back(application->overflown());
        received.values.push_back(application->received());
        spilt.values.push_back(application->spilt());
        anything_spilt = anything_spilt || application->spilt() > 0;
        died.values.push_back(application->died_ns());
        anybody_died = anybody_died || application->died_ns() > 0;
        totals.energy_mj.push_back(application->spent_energy_mj());
    }
    totals.counts = {offered, overflown, received};
    if (anything_spilt)
        totals.counts.push_back(spilt);
    if (anybody_died)
        totals.counts.push_back(died);
    totals.moves = places_.moves(omnetpp::SimTime::fromRaw(time_limit_).dbl());
    return totals;
}

}  // namespace roambus
