{
  description = "Durable, autonomous coding loops";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      # The keeper needs Linux; see docs/install.md.
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forAllSystems = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
      # "20261117…" as "2026-11-17".
      day =
        let
          stamp = self.lastModifiedDate or "00000000";
          part = from: length: builtins.substring from length stamp;
        in
        "${part 0 4}-${part 4 2}-${part 6 2}";
    in
    {
      packages = forAllSystems (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "loopwright";
          version = manifest.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package=loopwright" ];

          # `--version` names the commit; there is no repository during the build.
          LOOPWRIGHT_COMMIT = self.shortRev or "";
          LOOPWRIGHT_COMMIT_DATE = day;

          nativeBuildInputs = [ pkgs.installShellFiles ];

          # Tests run whole loops with real tools and agents: `cargo xtask ci` is the place for them.
          doCheck = false;

          postInstall = ''
            $out/bin/loopwright man --folder manual
            installManPage manual/*.1
            for shell in bash zsh fish; do
              $out/bin/loopwright completions $shell > loopwright.$shell
              installShellCompletion --cmd loopwright --$shell loopwright.$shell
            done
          '';

          meta = {
            description = "Durable, autonomous coding loops";
            license = with nixpkgs.lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "loopwright";
            platforms = systems;
          };
        };
      });

      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.cargo
            pkgs.rustc
            pkgs.clippy
            pkgs.rustfmt
            pkgs.cargo-nextest
            pkgs.git
          ];
        };
      });
    };
}
