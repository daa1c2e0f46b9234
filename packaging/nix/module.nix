# SPDX-License-Identifier: BSD-2-Clause
# module.nix - the module for one kernel; default.nix has the tools and how both are used.
# Not tested on NixOS: see ../README.md.
{ lib, stdenv, kernel }:

stdenv.mkDerivation {
  pname = "hwpmc-module";
  version = "0.1.0-${kernel.version}";
  src = ../..;

  hardeningDisable = [ "pic" ];
  nativeBuildInputs = kernel.moduleBuildDependencies;

  makeFlags = [
    "KDIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build"
    "DESTDIR=$(out)"
  ];
  buildFlags = [ "module" ];
  installTargets = [ "install-module" ];

  meta = {
    description = "Kernel module of hwpmc";
    license = with lib.licenses; [ gpl2Only bsd2 ];
    platforms = [ "x86_64-linux" ];
  };
}
