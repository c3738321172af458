// Package config reads the configuration file and the environment, and sets flags from them. A setting comes from its flag,
// else from the environment (RELAYFS_ and its name in capitals, with '_' for '-'), else from the file, else it keeps its
// default. The file is TOML. Its keys are the names of the settings, of the flags of mount and mcp, and
//
//	sources    = ["~/Notes", "Team=~/Documents/team"]
//	mountpoint = "~/relayfs"
//
// for a command without arguments. Config is the file; FindVaults and Create make a first one. The package takes the flags
// from the commands and leaves their meaning to them.
package config
