// Package config reads the configuration file and the environment, and sets flags from them. The value of a setting
// comes from the first of these that has it: its flag, the environment variable (RELAYFS_ and the name in capitals,
// with '_' for '-'), the file, the default. The file is TOML. Its keys are the names of the settings and of the flags
// of mount and mcp. Two more keys are for a command without arguments:
//
//	sources    = ["~/Notes", "Team=~/Documents/team"]
//	mountpoint = "~/relayfs"
//
// Config is the file. Create writes the first file, for which FindVaults finds the vaults. The commands define the
// flags and their meaning.
package config
