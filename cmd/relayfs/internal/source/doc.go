// Package source parses the SOURCE arguments of commands. A Source is a local vault or a shared folder of a server.
// Parse looks up relay:NAME in the stored list of the folders that are shared with the user's login, and returns the
// folder's server. The parsed sources can be served together: no two sources have the same name or place, no vault is
// inside another vault, and no vault shows the state folder. Package serving opens sources.
//
// The package also names the state folder of each source, and finds folders that Relay's plugin shares. An Account is
// the user's login at a control plane, such as Relay's hosted service (package control). Other keys and tokens of
// servers come only from the environment.
package source
