// Package randomtest runs tests of random input: [Check] calls a property with a random source for each round, reports the
// seed of the first failure, and searches a smaller case that fails at the same place.
//
// Every run has new seeds. Environment variables for all such tests:
//
//	RELAYFS_TESTS=all      all rounds, as make test has it; a tenth of them otherwise, or with the race detector
//	RELAYFS_ROUNDS=n       n rounds
//	RELAYFS_SOAK=duration  rounds until the time is over
//	RELAYFS_SEED=n         the seed of the first round; the next ones follow
//	RELAYFS_CASE=file      one round with the draws of this file
//	RELAYFS_FINDINGS=dir   where failing cases are written, instead of the folder for temporary files
package randomtest
