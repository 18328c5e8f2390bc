#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One small profile in every way in which .cubex files are written, byte by byte; into seeds/cubex beside this file.

Tests read these files with our reader, and the fuzz target starts from them.
"""
import gzip
import io
import pathlib
import struct
import tarfile
import zlib

# main calls a and b, a calls c: depth first the order is main a c b, breadth first main a b c.
VISITS = {0: (1, 1), 1: (2, 3), 2: (4, 0), 3: (7, 300)}  # visits of main, a, c, b on two threads
TIME = {0: (10.5, 11.25), 1: (4.0, 5.0), 2: (1.0, 0.0), 3: (6.0, 6.125)}  # inclusive times
EXCLUSIVE_ROWS = [0, 1, 2, 3]
INCLUSIVE_ROWS = [0, 1, 3, 2]

ANCHOR = """<?xml version="1.0" encoding="UTF-8"?>
<cube version="4.4">
<attr key="Creator" value="hand"/>
<doc><mirrors></mirrors></doc>
<metrics>
<metric id="0" type="EXCLUSIVE"><disp_name>Visits</disp_name><uniq_name>visits</uniq_name><dtype>{visits}</dtype>
<uom>occ</uom><url></url><descr></descr></metric>
<metric id="1" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name><dtype>DOUBLE</dtype>
<uom>sec</uom><url></url><descr></descr>
<metric id="2" type="EXCLUSIVE"><disp_name>None</disp_name><uniq_name>none</uniq_name><dtype>DOUBLE</dtype>
<uom>sec</uom><url></url><descr></descr></metric></metric>
<metric id="3" type="POSTDERIVED"><disp_name>Mean</disp_name><uniq_name>mean</uniq_name><dtype>DOUBLE</dtype>
<uom>sec</uom><url></url><descr></descr><cubepl>metric::time()/metric::visits()</cubepl></metric>
<metric id="4" type="EXCLUSIVE"><disp_name>Many</disp_name><uniq_name>many</uniq_name><dtype>TAU_ATOMIC</dtype>
<uom>sec</uom><url></url><descr></descr></metric>
</metrics>
<program>
<region id="0" mod="" begin="-1" end="-1"><name>main</name><paradigm>user</paradigm><role>function</role></region>
<region id="7" mod="" begin="-1" end="-1"><name>a &lt;int&gt;</name></region>
<region id="2" mod="" begin="-1" end="-1"><name>b</name></region>
<region id="3" mod="" begin="-1" end="-1"><name>c</name></region>
<cnode id="0" calleeId="0"><cnode id="1" calleeId="7"><cnode id="3" calleeId="3"></cnode></cnode>
<cnode id="2" calleeId="2"></cnode></cnode>
</program>
<system><systemtreenode Id="0"><name>cluster</name><class>machine</class>
<systemtreenode Id="1"><name>node 1</name><class>node</class>
<locationgroup Id="0"><name>rank 0</name><rank>0</rank><type>process</type>
<location Id="0"><name>master</name><rank>0</rank><type>thread</type></location>
<location Id="1"><name>worker</name><rank>1</rank><type>thread</type></location>
</locationgroup></systemtreenode></systemtreenode></system>
</cube>
"""


def index(rows, order="<", dense=False):
    head = b"CUBEX.INDEX" + struct.pack(order + "IHB", 1, 0, 3 if dense else 1)
    return head if dense else head + struct.pack(f"{order}I{len(rows)}I", len(rows), *rows)


def data(rows, code, order="<", compressed=False):
    packed = [struct.pack(f"{order}{len(row)}{code}", *row) for row in rows]
    if not compressed:
        return b"CUBEX.DATA" + b"".join(packed)
    streams = [zlib.compress(row, 1) for row in packed]
    table, at, at_compressed = b"", 0, 0
    for row, stream in zip(packed, streams):
        table += struct.pack(order + "3Q", at, at_compressed, len(stream))
        at, at_compressed = at + len(row), at_compressed + len(stream)
    return b"ZCUBEX.DATA" + struct.pack(order + "Q", len(rows)) + table + b"".join(streams) + b"\n"


def members(order="<", dense=False, compressed=False, visits=("UINT64", "Q")):
    present = [row for row, path in enumerate(INCLUSIVE_ROWS) if any(TIME[path])]
    anchor = ANCHOR.format(visits=visits[0]).encode()
    return {
        "anchor.xml": gzip.compress(anchor, mtime=0) if compressed else anchor,
        "0.index": index(range(4), order, dense),
        "0.data": data([VISITS[path] for path in EXCLUSIVE_ROWS], visits[1], order, compressed),
        "1.index": index(present, order, dense),
        "1.data": data([TIME[INCLUSIVE_ROWS[row]] for row in present], "d", order, compressed),
        "4.index": index([0], order),
        "4.data": b"CUBEX.DATA" + bytes(72),
        "remapping.spec": b"something else",
    }


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            header = tarfile.TarInfo(name)
            header.mode, header.size = 0o600, len(content)
            archive.addfile(header, io.BytesIO(content))
            # As in Cube's C writer: one more block after whole blocks.
            if len(content) % 512 == 0:
                out.write(bytes(512))
                archive.offset += 512
    return out.getvalue()[: archive.offset + 1024]


def with_wrong_checksums(content):
    wrong, at = bytearray(content), 0
    while any(wrong[at : at + 512]):
        wrong[at + 148 : at + 156] = b"0000000\0"
        size = int(wrong[at + 124 : at + 135], 8)
        at += 512 + -(-size // 512) * 512
    return bytes(wrong)


def whole_blocks(files):
    anchor = files["anchor.xml"]
    return {**files, "anchor.xml": anchor + b" " * (-len(anchor) % 512)}


def up_to_the_padding_of_the_last(content):
    return content[: content.index(b"remapping.spec") + 512 + 100]


def main():
    folder = pathlib.Path(__file__).parent / "seeds/cubex"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {
        "plain": tar(members()),
        "big_endian": tar(members(order=">")),
        "compressed": tar(members(compressed=True)),
        "big_endian_compressed": tar(members(order=">", compressed=True)),
        "dense": tar(members(dense=True)),
        "narrow": tar(members(visits=("UINT16", "H"))),
        "anchor_last": tar(dict(reversed(members().items()))),
        "wrong_checksums": with_wrong_checksums(tar(members())),
        "empty_blocks": tar(whole_blocks(members())),
        "no_end": up_to_the_padding_of_the_last(tar(members())),
        "half_end": tar(members())[:-1300],
    }.items():
        (folder / f"{name}.cubex").write_bytes(content)


if __name__ == "__main__":
    main()
