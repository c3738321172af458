// Package save tests how programs and users save. It compares each way of saving with the same save in a plain folder,
// and tests users who save the same notes in the vault.
package save
