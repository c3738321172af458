// Package randomtest runs tests with random input. [Check] calls a property with a random source for each round,
// reports the seed of the first failure, and searches for a smaller case that fails at the same place.
//
// Every run has new seeds. These environment variables apply to all tests that use the package:
//
//	RELAYFS_TESTS=all      all rounds, as in make test; otherwise, or with the race detector, a tenth of them
//	RELAYFS_ROUNDS=n       n rounds
//	RELAYFS_SOAK=duration  rounds until this time has elapsed
//	RELAYFS_SEED=n         seed of the first round; the next rounds use the next numbers
//	RELAYFS_CASE=file      one round with the draws of this file
//	RELAYFS_FINDINGS=dir   directory for failing cases, instead of the temporary directory
package randomtest
