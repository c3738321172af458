// Package names changes what is where: it creates, renames, exchanges and removes notes,
// files and folders, for programs and for people. (What a source reports is taken over by
// package proposal, which has the lock of the names.)
//
// What programs do to names is proposed, or done at once where the structure policy says so,
// or where it is about what is its author's own so far: what a session of an author has just
// made, and nobody else has used, it may rename and take away without asking. What people
// do is done at once, with the paths that they have, whatever is proposed for them.
package names
