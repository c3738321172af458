// Package source parses the SOURCE arguments of commands. A Source is a local vault or a shared folder of a server; a
// folder of the login (relay:NAME) becomes a folder of a server. The package also names the state folder of each source,
// and finds folders that Relay's plugin shares. The parsed sources can be served together: no two have the same name or
// place, no vault is inside another, and the state folder is in none. An Account is the login at a control plane. Package
// serving opens sources.
package source
