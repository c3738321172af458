{
  description = "Notes as a folder; what programs write there becomes suggestions";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "relayfs";
          version = self.shortRev or "dirty";
          src = self;
          # What packaging/vendor-hash.py prints; a test compares.
          vendorHash = "sha256-dLrbHiqhkncrvhb70N8xoUD3QrP8HN1YCI7mZmz1qLc=";
          subPackages = [ "cmd/relayfs" ];
          env.CGO_ENABLED = 0;
          ldflags = [ "-s" "-w" ];
          doCheck = false; # the tests drive programs that a build does not have
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            go run -tags packaging ./cmd/relayfs files
            installManPage files/man/*
            installShellCompletion --cmd relayfs \
              --bash files/completions/relayfs.bash --fish files/completions/relayfs.fish --zsh files/completions/relayfs.zsh
          '';
          meta.mainProgram = "relayfs";
        };
      });
    };
}
