// Package source parses the SOURCE arguments of commands. A Source is a local vault or a shared folder of a server; a
// folder of the login (relay:NAME) becomes a folder of a server. The package also names the state folder of each source,
// and finds folders that Relay's plugin shares. The parsed sources can be served together: they have no equal names and
// no nested vaults. Package serving opens sources.
package source
