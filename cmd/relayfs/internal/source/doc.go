// Package source parses the SOURCE arguments of commands. A Source is a local vault or a shared folder of a server; a folder
// of the login (relay:NAME) becomes one of a server. The package also names the state folder of each source, and finds
// folders that Relay's plugin shares. It guarantees that the parsed sources can be served together: no equal names, no
// nested vaults. It opens no source; that is left to package serving.
package source
