/**
 * End-to-end tests: the real commands, a real mount, the programs that people use. They need root and /dev/fuse, and
 * say so where they are skipped. Whatever happens, they leave no mount, no loop device and no daemon behind.
 */
package org.opendedup.sar.mounted;
