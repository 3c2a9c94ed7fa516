package org.opendedup.sar.sim.index;

import com.carrotsearch.hppc.LongHashSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.opendedup.sar.cluster.BlockShape;
import org.opendedup.sar.cluster.Membership;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.sim.trace.BackupVersion;

/** Stores a trace in clusters of several sizes, with the cluster's own rules for blocks and places. */
final class ClusterRun {
    private final List<BackupVersion> versions;
    private final Division division;
    private final long bytes;
    private final long uniqueBytes;

    /** The different blocks of the trace. */
    private final List<Block> blocks;

    private record Block(int shard, long bytes) {}

    /** Says where blocks end. */
    interface Division {
        /** Returns whether a block ends behind a chunk. */
        boolean endsBehind(long bytes, long key);

        /** Returns the bytes that a block has at most. */
        long mostBytes();

        /** Blocks by their content, as a cluster makes them. */
        static Division of(BlockShape shape) {
            return new Division() {
                @Override
                public boolean endsBehind(long bytes, long key) {
                    return shape.endsBehind(bytes, key);
                }

                @Override
                public long mostBytes() {
                    return shape.mostBytes();
                }
            };
        }

        /** Blocks of a fixed number of bytes, as SiLo's. */
        static Division fixed(long blockBytes) {
            return new Division() {
                @Override
                public boolean endsBehind(long bytes, long key) {
                    return bytes >= blockBytes;
                }

                @Override
                public long mostBytes() {
                    return Long.MAX_VALUE;
                }
            };
        }
    }

    ClusterRun(List<BackupVersion> versions, Division division) {
        this.versions = versions;
        this.division = division;
        bytes = versions.stream().mapToLong(BackupVersion::bytes).sum();
        uniqueBytes = stored(new int[BlockShape.SHARDS], 1)[0];
        blocks = blocks();
    }

    /** Returns the length of the trace's data, in bytes. */
    long bytes() {
        return bytes;
    }

    /** Returns the bytes that one volume stores. */
    long uniqueBytes() {
        return uniqueBytes;
    }

    /** Returns the number of different blocks, and their mean length in bytes. */
    long[] blockFigures() {
        long all = blocks.stream().mapToLong(Block::bytes).sum();
        return new long[] {blocks.size(), all / Math.max(1, blocks.size())};
    }

    /** @param volumes number of volumes, which all have the same weight */
    ClusterRow row(int volumes) {
        int[] homes = homes(volumes);
        int[] grown = homes(volumes + 1);
        long[] stored = stored(homes, volumes);
        long all = Arrays.stream(stored).sum();
        long moved = 0;
        long elsewhere = 0;
        long blockBytes = 0;
        for (Block block : blocks) {
            blockBytes += block.bytes;
            if (homes[block.shard] != grown[block.shard]) {
                moved += block.bytes;
                elsewhere += grown[block.shard] == volumes ? 0 : block.bytes;
            }
        }
        long[] shards = new long[volumes];
        Arrays.stream(homes).forEach(home -> shards[home]++);
        return new ClusterRow(
                volumes,
                all,
                (double) bytes / all,
                bytes == uniqueBytes ? 0 : (double) (bytes - all) / (bytes - uniqueBytes),
                (double) Arrays.stream(stored).max().orElse(0) * volumes / all,
                (double) Arrays.stream(shards).max().orElse(0) * volumes / BlockShape.SHARDS,
                (double) moved / Math.max(1, blockBytes),
                1.0 / (volumes + 1),
                elsewhere);
    }

    /** Returns the volume of each shard. The first volumes of a larger cluster are those of a smaller one. */
    private static int[] homes(int volumes) {
        List<Member> members = IntStream.range(0, volumes)
                .mapToObj(number -> new Member(new UUID(TraceSegment.mixed(number + 1), number), 1, false, "-"))
                .toList();
        Membership membership = new Membership("simulated", new UUID(0, 0), 1, members);
        return IntStream.range(0, BlockShape.SHARDS)
                .parallel()
                .map(shard -> (int) membership.home(shard).id().getLeastSignificantBits())
                .toArray();
    }

    private long[] stored(int[] homes, int volumes) {
        BlockRouting routing = new BlockRouting(volumes, representative -> homes[BlockShape.shardOf(representative)]);
        for (BackupVersion version : versions) {
            for (int chunk = 0; chunk < version.chunks(); chunk++) {
                long key = TraceSegment.mixed(version.fingerprint(chunk));
                if (routing.openBytes() + version.length(chunk) > division.mostBytes()) {
                    routing.finish();
                }
                routing.add(key, version.length(chunk));
                if (division.endsBehind(routing.openBytes(), key)) {
                    routing.finish();
                }
            }
            routing.finish();
        }
        return routing.stored();
    }

    private List<Block> blocks() {
        List<Block> different = new ArrayList<>();
        LongHashSet seen = new LongHashSet();
        for (BackupVersion version : versions) {
            long length = 0;
            long content = 0;
            long lowest = -1;
            for (int chunk = 0; chunk < version.chunks(); chunk++) {
                long key = TraceSegment.mixed(version.fingerprint(chunk));
                length += version.length(chunk);
                content = TraceSegment.mixed(content ^ key);
                lowest = Long.compareUnsigned(key, lowest) < 0 ? key : lowest;
                boolean isLast = chunk + 1 == version.chunks();
                if (isLast
                        || division.endsBehind(length, key)
                        || length + version.length(chunk + 1) > division.mostBytes()) {
                    if (seen.add(content)) {
                        different.add(new Block(BlockShape.shardOf(lowest), length));
                    }
                    length = 0;
                    content = 0;
                    lowest = -1;
                }
            }
        }
        return different;
    }
}
