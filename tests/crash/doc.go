// Package crash tests what outlives a kill and a disk that fails: nothing that was saved is lost, made twice or made by
// somebody else. It also holds the long run under load.
package crash
