// ns-3 as a simulator of roambus: `roambus-ns3`, in the folder of a run with .roambus/session, .roambus/ns3 and
// .roambus/ways. Ends with 0 after the host's Goodbye, with 1 after any other end. What ns-3 itself finds wrong ends the
// process (NS_ASSERT, NS_FATAL_ERROR), with its text on standard error, which is the run's simulator.log.
#include <iostream>

#include <ns3/rng-seed-manager.h>

#include "client/client.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/session_file.h"
#include "settings.h"
#include "stacks.h"
#include "steered.h"
#include "turns.h"

namespace roambus::ns3_side {
namespace {

constexpr char kFolder[] = ".roambus";

class Bridge {
public:
    Bridge(const Settings& settings, Client& client)
        : settings_(settings), client_(client), events_(TurnScheduler::install()) {
        nodes_.Create(static_cast<std::uint32_t>(settings.nodes.size()));
        for (NodeId id = 0; id < settings.nodes.size(); ++id)
            place(id);
        stack_ = install_stack(settings, nodes_,
                               [this](NodeId sender, const Payload& payload, const Reception& reception) {
                                   arrived(sender, payload, reception);
                               },
                               [this](const Send& send, const std::string& reason) { failed(send, reason); });
        offered_.resize(settings.nodes.size());
        received_.resize(settings.nodes.size());
    }

    void run() {
        const Run run = this->run_of_settings();
        const Welcome welcome = client_.hello(run);
        collector_.emplace(
            run, welcome, [this](const Step& step) { return this->step(step); }, [this] { return outlook(); });
        schedule();
        // At the limit itself nothing happens any more.
        events_.at(settings_.time_limit, Turn::kFirst, [] { ns3::Simulator::Stop(); });
        ns3::Simulator::Run();
        if (failure_)
            std::rethrow_exception(failure_);
        collector_->finish();
        client_.finish(totals());
    }

private:
    void place(NodeId id) {
        ways_.push_back(ns3::CreateObject<SteeredMobility>());
        nodes_.Get(id)->AggregateObject(ways_[id]);
        for (const WayPoint& point : settings_.nodes[id].way)
            ways_[id]->add(point);
    }

    Reply step(const Step& step) {
        Reply reply = client_.step(step);
        for (const Course& course : reply.courses)
            ways_[course.node]->steer(course);
        return reply;
    }

    Run run_of_settings() const {
        Run run{"ns-3 " ROAMBUS_NS3_RELEASE ", " + settings_.stack,
                settings_.seed,
                settings_.time_limit,
                settings_.processing_delay,
                {},
                false,
                stack_->transit(),
                stack_->framing(),
                true};
        for (const NodeSettings& node : settings_.nodes)
            run.nodes.push_back(node.clock);
        return run;
    }

    void arrived(NodeId sender, const Payload& payload, const Reception& reception) {
        const SimTime now = ns3::Simulator::Now().GetNanoSeconds();
        if (now < settings_.nodes[reception.receiver].clock.start)
            return;  // the node has not booted
        ++received_[reception.receiver];
        collector_->arrived(now, sender, payload, reception);
        schedule();
    }

    void act() {
        scheduled_.reset();
        try {
            for (const Send& send : collector_->act())
                transmit(send);
            schedule();
        } catch (...) {  // ns-3 does not let an exception through its event loop in order
            failure_ = std::current_exception();
            ns3::Simulator::Stop();
        }
    }

    void transmit(const Send& send) {
        ++offered_[send.node];
        if (const std::optional<std::string> reason = stack_->transmit(send))
            collector_->failed({ns3::Simulator::Now().GetNanoSeconds(), send.node, send.destination, send.payload, *reason});
    }

    // What the MAC gives up later, at a time when the bridge does not act anyway.
    void failed(const Send& send, const std::string& reason) {
        collector_->failed({ns3::Simulator::Now().GetNanoSeconds(), send.node, send.destination, send.payload, reason});
        schedule();
    }

    void schedule() {
        const std::optional<Moment> next = collector_->next();
        if (next == scheduled_)
            return;
        ns3::Simulator::Remove(event_);
        scheduled_ = next;
        if (next)
            event_ = events_.at(next->time, next->turn, [this] { act(); });
    }

    // Before ns-3's next event nothing happens.
    std::optional<Quiet> outlook() const {
        return Quiet{events_.next().value_or(settings_.time_limit), stack_->room()};
    }

    Finished totals() const {
        Finished totals{collector_->sends(), collector_->deliveries(), {}, {}, {}};
        totals.counts = stack_->counts();
        totals.counts.push_back({"offered", offered_});
        totals.counts.push_back({"received", received_});
        for (NodeId id = 0; id < settings_.nodes.size(); ++id)
            if (!settings_.nodes[id].steered)
                add_moves(id, totals.moves);
        return totals;
    }

    // The way-points before the time limit, and the place then of a node that is on its way.
    void add_moves(NodeId id, std::vector<Move>& moves) const {
        const double end = static_cast<double>(settings_.time_limit) / 1e9;
        const WayPoint* from = nullptr;
        for (const WayPoint& to : settings_.nodes[id].way) {
            if (from && from->time_s < end && to.time_s >= end) {
                const double share = (end - from->time_s) / (to.time_s - from->time_s);
                moves.push_back({settings_.time_limit, id, from->x + share * (to.x - from->x), from->y + share * (to.y - from->y)});
            }
            if (to.time_s < end)
                moves.push_back({ns3::Seconds(to.time_s).GetNanoSeconds(), id, to.x, to.y});
            from = &to;
        }
    }

    const Settings& settings_;
    Client& client_;
    TurnScheduler& events_;
    ns3::NodeContainer nodes_;
    std::vector<ns3::Ptr<SteeredMobility>> ways_;
    std::unique_ptr<Stack> stack_;
    std::optional<Collector> collector_;
    std::optional<Moment> scheduled_;
    ns3::EventId event_;
    std::exception_ptr failure_;
    std::vector<std::int64_t> offered_, received_;
};

void simulate() {
    const Session session = read_session(session_path());
    const Settings settings = read_settings(kFolder);
    // Seeds of ns-3 begin with 1.
    ns3::RngSeedManager::SetSeed(static_cast<std::uint32_t>(settings.seed + 1));
    const std::unique_ptr<Channel> channel = std::make_unique<Connection>(session);
    Client client(*channel, session.token);
    try {
        Bridge(settings, client).run();
    } catch (const std::exception& error) {
        client.fail(error.what());
        throw;
    }
    ns3::Simulator::Destroy();
}

}  // namespace
}  // namespace roambus::ns3_side

int main() {
    try {
        roambus::ns3_side::simulate();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "roambus-ns3: error: " << error.what() << std::endl;
        return 1;
    }
}
