/**
 * Tests of what only a real file system does: its free space, its errors. They need root; other tests use the disks.
 */
package org.opendedup.sar.disks;
