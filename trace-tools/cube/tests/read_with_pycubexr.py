# SPDX-License-Identifier: Apache-2.0
"""Prints all that pycubexr finds in a .cubex file, as JSON; call paths depth first."""
import json
import sys

from pycubexr import CubexParser


def values_of(file, metric, paths, locations):
    found = file.get_metric_values(metric)
    numbers = getattr(found.values, "_values", found.values)  # of minima and maxima
    rows = {
        path: numbers[row * locations : (row + 1) * locations].tolist() for path, row in found.cnode_indices.items()
    }
    return [rows.get(path.id, [0] * locations) for path in paths]


with CubexParser(sys.argv[1]) as file:
    paths = file.all_cnodes()
    locations = file.get_locations()
    json.dump(
        {
            "call_paths": [
                {"region": path.region.name, "parent": path.parent.id if path.parent else None}
                for path in paths
            ],
            "locations": [{"name": one.name, "type": one.type} for one in locations],
            "metrics": {
                metric.name: {
                    "kind": metric.metric_type,
                    "type": metric.data_type,
                    "values": values_of(file, metric, paths, len(locations)),
                }
                for metric in file.all_metrics()
                if metric.metric_type in ("EXCLUSIVE", "INCLUSIVE")
            },
        },
        sys.stdout,
    )
