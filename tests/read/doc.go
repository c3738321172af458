// Package read tests what programs read on a mount: texts, listings, and what stat tells, compared with the vault.
package read
