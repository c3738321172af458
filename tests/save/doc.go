// Package save tests how programs and users save: each way of saving, compared with the same save in a plain folder, and
// users who save the same notes in the vault.
package save
