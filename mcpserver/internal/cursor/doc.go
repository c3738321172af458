// Package cursor says where a list or a search goes on that does not fit into one
// answer. It knows neither what is listed nor who asks. It has no locks.
package cursor
