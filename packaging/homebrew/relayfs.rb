# A formula for Homebrew, which builds from source: brew install --formula packaging/homebrew/relayfs.rb
class Relayfs < Formula
  desc "Notes as a folder; what programs write there becomes suggestions"
  homepage "https://github.com/relayfs/relayfs"
  url "https://github.com/relayfs/relayfs.git", tag: "v0.1.0"
  license "MIT"
  head "https://github.com/relayfs/relayfs.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args(ldflags: "-s -w -X main.release=v#{version}"), "./cmd/relayfs"
    generate_completions_from_executable(bin/"relayfs", "completion")
    system "go", "run", "-tags", "packaging", "./cmd/relayfs", buildpath/"files"
    man1.install Dir["files/man/*"]
  end

  def caveats
    on_macos do
      "The mount needs macFUSE or FUSE-T. `relayfs mcp` needs neither."
    end
    on_linux do
      "The mount needs fusermount3 of your distribution's package fuse3. `relayfs mcp` does not."
    end
  end

  test do
    (testpath/"Notes/Home.md").write "one\n"
    assert_equal "one\n", shell_output("#{bin}/relayfs cat --source Notes Notes/Home.md")
  end
end
