#include "analysis/report/further/further.hpp"
#include "base/contract/roles.hpp"
#include "base/csv.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& number)
{
    return number ? Json(*number) : Json(nullptr);
}

void add_dose(Json& json, const std::string& name, const DoseEstimate& dose)
{
    json[name] = number_or_null(dose.value);
    json[name + "_low"] = number_or_null(dose.low);
    json[name + "_high"] = number_or_null(dose.high);
}

}  // namespace

void write_response(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "dose", "unit", "dose_is", "effect_percent", "low_percent",
                           "high_percent", "fitted_percent", "fitted_low_percent", "fitted_high_percent"}};
    for (const ResponseCurve& curve : report.secondary.curves)
        for (const CurvePoint& point : curve.points) {
            const Interval interval = point.percent.interval(report.verdict.confidence_each);
            table.row(curve.factor, point.level, point.dose, curve.unit, curve.achieved ? "achieved" : "asked",
                      point.percent.value, interval.low, interval.high, point.fitted_percent, point.fitted.low,
                      point.fitted.high);
        }
}

void write_carry_over(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "role", "carry_over_percent", "low_percent", "high_percent", "p_holm",
                           "steps", "blocks", "slots", "long_steps_slots", "long_steps_percent"}};
    for (const CarryOver& one : report.secondary.carry_over) {
        const Interval interval = one.percent.interval(report.verdict.confidence);
        table.row(one.factor, one.level, base::text(one.role), one.percent.value, interval.low, interval.high,
                  one.p_holm, one.steps, report.analysis.blocks, one.slots, one.long_steps_slots,
                  one.long_steps_percent);
    }
}

void add_curve(Json& factor_json, const Report& report, const std::string& factor)
{
    for (const ResponseCurve& curve : report.secondary.curves) {
        if (curve.factor != factor) continue;
        add_dose(factor_json, "tolerated_level", curve.tolerated);
        add_dose(factor_json, "break_level", curve.break_point);
        factor_json["level_unit"] = curve.unit;
        factor_json["level_is"] = curve.achieved ? "achieved" : "asked";
    }
}

Json carry_over_json(const Report& report)
{
    Json all = Json::array();
    for (const CarryOver& one : report.secondary.carry_over) {
        const Interval interval = one.percent.interval(report.verdict.confidence);
        all.push_back({{"factor", one.factor},
                       {"level", one.level},
                       {"carry_over_percent", one.percent.value},
                       {"low_percent", interval.low},
                       {"high_percent", interval.high},
                       {"p_holm", one.p_holm}});
    }
    return all;
}

}  // namespace analysis
