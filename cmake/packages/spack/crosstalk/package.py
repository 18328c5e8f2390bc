# SPDX-License-Identifier: Apache-2.0
# A Spack recipe. Put the folder above this file, cmake/packages/spack, under packages/ of your repository (spack repo
# create), then: spack install crosstalk. Spack itself has not been run on this file yet.
from spack.package import *


class Crosstalk(CMakePackage):
    """What noise on idle CPU cores costs distributed training."""

    git = "file:///path/to/crosstalk"  # your clone
    license("Apache-2.0")
    version("main", branch="main")

    variant("torch", default=False, description="Real models in LibTorch")
    variant("papi", default=True, description="Processor counters in traces")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost@1.74: +program_options")
    depends_on("nlohmann-json@3.11:")
    depends_on("hwloc@2:")
    depends_on("otf2@2.3:")
    depends_on("mpi")
    depends_on("eigen@3.4:")
    depends_on("zlib-api")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("liburing")
    depends_on("libarchive")
    depends_on("pugixml")
    depends_on("papi@7: +sde", when="+papi")
    depends_on("py-torch", when="+torch")
    depends_on("gnuplot", type="run")

    generator("ninja")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
