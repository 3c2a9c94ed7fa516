/**
 * Archives of files over several volumes. A stream is cut into blocks where its content says so; the lowest fingerprint
 * of a block's chunks chooses its shard, and the shard its volume (SiLo, section 3.4, with virtual shards). A volume is
 * a folder of its mount, used as an {@link org.opendedup.sar.objects.ObjectStore}; it finds the duplicates of what it
 * has. There is no server, and nothing is stored twice.
 */
@NullMarked
package org.opendedup.sar.cluster;

import org.jspecify.annotations.NullMarked;
