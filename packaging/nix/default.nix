# SPDX-License-Identifier: BSD-2-Clause
# default.nix - the tools, and the module for a kernel of nixpkgs:
#	boot.extraModulePackages = [ (config.boot.kernelPackages.callPackage ./module.nix { }) ];
#	environment.systemPackages = [ (pkgs.callPackage ./default.nix { }) ];
# Not tested on NixOS: see ../README.md.
{ lib, stdenv, pkg-config, libbfd, libiberty, capstone, curl
, elfutils, jansson, libpfm, ncurses, protobufc, xz, zlib, zstd }:

stdenv.mkDerivation {
  pname = "hwpmc";
  version = "0.1.0";
  src = ../..;

  nativeBuildInputs = [ pkg-config protobufc ];
  buildInputs = [
    libbfd libiberty capstone curl elfutils jansson libpfm ncurses protobufc xz zlib zstd
  ];

  makeFlags = [ "prefix=$(out)" ];
  buildFlags = [ "lib" "tools" ];

  # Loaded when they are needed, so the linker does not name them.
  postFixup = ''
    for f in $out/bin/* $out/lib/*.so.*; do
      [ -L $f ] || patchelf --add-rpath ${lib.makeLibraryPath [ curl libpfm ]} $f
    done
  '';

  meta = {
    description = "Exact hardware performance counters";
    license = lib.licenses.bsd2;
    platforms = [ "x86_64-linux" ];
  };
}
