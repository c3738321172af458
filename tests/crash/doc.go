// Package crash tests kills and failing disks: no saved change may be lost, duplicated or attributed to another author.
// It also contains the long run under load.
package crash
