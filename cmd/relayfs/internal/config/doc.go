// Package config reads the configuration file and the environment, and sets flags from them. The value of a setting
// comes from its flag, otherwise from the environment (RELAYFS_ and its name in capitals, with '_' for '-'), otherwise
// from the file, otherwise it is the default. The file is TOML. Its keys are the names of the settings, of the flags of
// mount and mcp, and
//
//	sources    = ["~/Notes", "Team=~/Documents/team"]
//	mountpoint = "~/relayfs"
//
// for a command without arguments. Config is the file; FindVaults and Create create a first one. The commands define the
// flags and their meaning.
package config
