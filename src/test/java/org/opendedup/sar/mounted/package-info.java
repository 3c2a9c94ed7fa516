/**
 * End-to-end tests: the real commands, a real mount, the programs that people use. They need root and /dev/fuse, and
 * report why if they are skipped. They always remove their mounts, loop devices and daemons.
 */
package org.opendedup.sar.mounted;
