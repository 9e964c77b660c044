#include "trajectory.h"

#include <algorithm>

namespace roambus {
namespace {

WayPoint between(const WayPoint& from, const WayPoint& to, double time) {
    double share = (time - from.time) / (to.time - from.time);
    return {time, from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)};
}

}  // namespace

void Trajectory::add(WayPoint point) {
    points_.push_back(point);
}

void Trajectory::turn(WayPoint from, WayPoint to) {
    while (!points_.empty() && points_.back().time >= from.time)
        points_.pop_back();
    points_.push_back(from);
    if (to.time > from.time)
        points_.push_back(to);
}

WayPoint Trajectory::at(double time) const {
    const WayPoint& next = points_.back();
    if (points_.size() == 1 || time >= next.time)
        return {time, next.x, next.y};
    return between(points_[points_.size() - 2], next, time);
}

std::vector<WayPoint> Trajectory::until(double end) const {
    auto after = std::find_if(points_.begin(), points_.end(), [end](const WayPoint& p) { return p.time >= end; });
    std::vector<WayPoint> points(points_.begin(), after);
    if (after != points_.begin() && after != points_.end())
        points.push_back(between(*(after - 1), *after, end));
    return points;
}

}  // namespace roambus
