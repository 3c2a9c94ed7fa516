package org.opendedup.sar.cluster;

import com.carrotsearch.hppc.LongHashSet;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What keeps a cluster in order: moves of blocks, deletion of those that no archive has, comparison of all. */
public final class ClusterCare {
    private static final Logger log = LoggerFactory.getLogger(ClusterCare.class);

    private final Cluster cluster;
    private final Progress progress;

    /** @param progress may stop each of the operations; what is done stays done */
    public ClusterCare(Cluster cluster, Progress progress) {
        this.cluster = cluster;
        this.progress = progress;
    }

    /**
     * A volume and what it has.
     *
     * @param state present, leaving or away
     * @param share its part of the shards, 0 to 1
     * @param blocks blocks that it has; 0 if it is away
     * @param bytes their length, in bytes, before deduplication and compression
     * @param misplaced blocks among them whose place is another volume
     */
    public record Volume(String folder, String state, double share, long blocks, long bytes, long misplaced) {}

    /** Returns what each volume has. Lists all blocks. */
    public List<Volume> volumes() throws IOException {
        Membership membership = cluster.membership();
        Map<Member, Long> shards = new TreeMap<>(Comparator.comparing(Member::id));
        for (int shard = 0; shard < BlockShape.SHARDS; shard++) {
            shards.merge(membership.home(shard), 1L, Long::sum);
        }
        List<Volume> volumes = new ArrayList<>();
        for (Member member : membership.members()) {
            double share = (double) shards.getOrDefault(member, 0L) / BlockShape.SHARDS;
            long[] counts = new long[3];
            var node = cluster.volumes().node(member);
            if (node.isPresent()) {
                node.get().forEachBlock(block -> {
                    counts[0]++;
                    counts[1] += block.length();
                    counts[2] += membership.home(block.shard()).equals(member) ? 0 : 1;
                    progress.at("blocks", counts[0], 0);
                });
            }
            volumes.add(new Volume(
                    node.map(present -> present.folder().toString()).orElse(member.place()),
                    node.isEmpty() ? "away" : member.isLeaving() ? "leaving" : "present",
                    share,
                    counts[0],
                    counts[1],
                    counts[2]));
        }
        return volumes;
    }

    /**
     * What a balance did.
     *
     * @param movedBlocks blocks that moved to their place
     * @param movedBytes their length, in bytes
     * @param waiting blocks whose place is a volume that is away or full
     * @param damaged blocks that stay where they are because their bytes are wrong or cannot be read, and archives of
     *     which no list can be read
     */
    public record Balance(long movedBlocks, long movedBytes, long waiting, long damaged) {}

    /**
     * Moves each block to its place, and makes the copies of archives' lists that are missing. A block is durable in
     * its place before it is deleted elsewhere, so it can be stopped at any time, and goes on when it is called again.
     * Programs may put and get meanwhile.
     */
    public Balance balance() throws IOException {
        try (var unused = cluster.notes().use("balance", Notes.Kind.MOVE)) {
            cluster.tellMembership();
            return moveAll(copyArchives());
        }
    }

    /** @param damagedLists number of damaged lists of archives */
    private Balance moveAll(long damagedLists) throws IOException {
        List<BlockRef> wanted = new ArrayList<>();
        List<ClusterNode> from = new ArrayList<>();
        for (ClusterNode node : cluster.volumes().nodes()) {
            node.forEachBlock(block -> {
                if (!cluster.membership().home(block.shard()).id().equals(node.id())) {
                    wanted.add(block);
                    from.add(node);
                }
                progress.at("misplaced blocks", wanted.size(), 0);
            });
        }
        long moved = 0;
        long bytes = 0;
        long waiting = 0;
        long damaged = damagedLists;
        for (int i = 0; i < wanted.size(); i++) {
            progress.at("blocks that move", i, wanted.size());
            BlockRef block = wanted.get(i);
            ClusterNode source = from.get(i);
            var home = cluster.volumes().node(cluster.membership().home(block.shard()));
            if (home.isEmpty()) {
                waiting++;
                continue;
            }
            try {
                move(block, source, home.get());
                moved++;
                bytes += block.length();
            } catch (NoSpaceException e) {
                log.debug("{} is full", home.get().folder(), e);
                waiting++;
            } catch (NoSuchFileException e) {
                log.debug("block {} was moved by another process", block, e);
            } catch (IOException e) {
                // A volume tells damage as a failed read. It must not hide the blocks behind it.
                source.requireThere();
                home.get().requireThere();
                log.error("block {} stays on {}", block, source.folder(), e);
                damaged++;
            }
        }
        return new Balance(moved, bytes, waiting, damaged);
    }

    private static void move(BlockRef block, ClusterNode source, ClusterNode home) throws IOException {
        // What is deleted elsewhere must be right here.
        try {
            home.read(block);
        } catch (NoSuchFileException e) {
            home.put(block, source.read(block));
        } catch (IOException e) {
            byte[] right = source.read(block);
            log.warn("block {} of {} is replaced", block, home.folder(), e);
            home.store().delete(List.of(block.objectName()));
            home.put(block, right);
        }
        source.store().delete(List.of(block.objectName()));
    }

    /**
     * Makes copies of archives' objects where they are missing or damaged.
     *
     * @return the number of archives of which no copy can be read
     */
    private long copyArchives() throws IOException {
        long unreadable = 0;
        for (String archive : cluster.archives().names()) {
            String name = Archives.objectOf(archive);
            List<ClusterNode> damaged = new ArrayList<>();
            List<ArchiveReader> variants = cluster.archives()
                    .variants(archive, cluster.volumes().nodes(), (node, e) -> {
                        node.requireThere();
                        log.error("the list of archive {} on {} is damaged", archive, node.folder(), e);
                        damaged.add(node);
                    });
            if (variants.isEmpty()) {
                unreadable++;
                continue;
            }
            for (ClusterNode node : damaged) {
                node.store().delete(List.of(name));
            }
            for (ClusterNode node : cluster.archives().holders(archive)) {
                if (!hasObject(node, name)) {
                    copyTo(node, archive, variants.get(0).source());
                }
            }
        }
        return unreadable;
    }

    private static void copyTo(ClusterNode node, String archive, ObjectSource list) throws IOException {
        try {
            node.store().put(Archives.objectOf(archive), list);
        } catch (NoSpaceException e) {
            log.warn("{} is full, and has no copy of archive {}", node.folder(), archive, e);
        }
    }

    private static boolean hasObject(ClusterNode node, String name) throws IOException {
        try {
            return node.store().status(name).length() > 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * What a collection did.
     *
     * @param deletedBlocks blocks that no archive has
     * @param deletedBytes their length, in bytes
     * @param keptBlocks blocks that archives have
     */
    public record Collection(long deletedBlocks, long deletedBytes, long keptBlocks) {}

    /**
     * Deletes the blocks that no archive has. Needs all volumes, and no other process may put or move meanwhile.
     * Memory: 16 bytes a block.
     *
     * @param ignoresUnfinished whether notes of other processes are removed, because these were killed
     */
    public Collection collect(boolean ignoresUnfinished) throws IOException {
        if (ignoresUnfinished) {
            cluster.notes().removeAll();
        }
        try (var unused = cluster.notes().use("gc", Notes.Kind.ALONE)) {
            LongHashSet needed = new LongHashSet();
            SortedSet<String> archives = cluster.archives().names();
            long read = 0;
            for (String archive : archives) {
                progress.at("archives", read++, archives.size());
                // A volume that goes away here could have the list of another archive with this name.
                List<ArchiveReader> variants = cluster.archives()
                        .variants(archive, cluster.volumes().nodes(), (node, e) -> {
                            if (!(e instanceof CorruptionException)) {
                                throw e;
                            }
                            log.error("the list of archive {} on {} is damaged", archive, node.folder(), e);
                        });
                if (variants.isEmpty()) {
                    throw new IOException("no list of archive " + archive + " can be read, so its blocks are unknown");
                }
                variants.forEach(list -> list.blocks().forEach(block -> needed.add(block.key())));
            }
            long[] counts = new long[3];
            for (ClusterNode node : cluster.volumes().nodes()) {
                List<String> garbage = new ArrayList<>();
                node.forEachBlock(block -> {
                    if (needed.contains(block.key())) {
                        counts[2]++;
                    } else {
                        garbage.add(block.objectName());
                        counts[0]++;
                        counts[1] += block.length();
                    }
                    progress.at("blocks", counts[0] + counts[2], 0);
                });
                for (int i = 0; i < garbage.size(); i += ObjectStore.MOST_NAMES) {
                    node.store().delete(garbage.subList(i, Math.min(garbage.size(), i + ObjectStore.MOST_NAMES)));
                }
                node.store().removeUnfinished(Instant.now());
            }
            return new Collection(counts[0], counts[1], counts[2]);
        }
    }

    /**
     * What a check found.
     *
     * @param blocks blocks whose bytes are right
     * @param bytes their length, in bytes
     * @param damaged blocks and lists of archives whose bytes are wrong or cannot be read, with their volumes
     * @param incomplete archives that need blocks which no volume that is there has, with the number of these
     */
    public record Check(long blocks, long bytes, List<String> damaged, Map<String, Long> incomplete) {
        public Check {
            damaged = List.copyOf(damaged);
            incomplete = Map.copyOf(incomplete);
        }
    }

    /** Reads all blocks of the volumes that are there, and compares archives with them. Memory: 16 bytes a block. */
    public Check check() throws IOException {
        LongHashSet right = new LongHashSet();
        List<String> damaged = new ArrayList<>();
        long[] counts = new long[2];
        for (ClusterNode node : cluster.volumes().nodes()) {
            node.forEachBlock(block -> {
                try {
                    node.read(block);
                    right.add(block.key());
                    counts[0]++;
                    counts[1] += block.length();
                } catch (IOException e) {
                    damaged.add(node.folder() + ": " + e.getMessage());
                }
                progress.at("blocks", counts[0], 0);
            });
        }
        Map<String, Long> incomplete = new TreeMap<>();
        for (String archive : cluster.archives().names()) {
            long[] missing = new long[1];
            List<ArchiveReader> variants = cluster.archives()
                    .variants(
                            archive,
                            cluster.volumes().nodes(),
                            (node, e) -> damaged.add(
                                    node.folder() + ": the list of archive " + archive + ": " + e.getMessage()));
            if (variants.isEmpty()) {
                missing[0]++;
            } else if (variants.size() > 1) {
                damaged.add("archive " + archive + ": the volumes have " + variants.size()
                        + " different archives of this name");
            }
            variants.forEach(list -> list.blocks().forEach(block -> missing[0] += right.contains(block.key()) ? 0 : 1));
            if (missing[0] > 0) {
                incomplete.put(archive, missing[0]);
            }
        }
        return new Check(counts[0], counts[1], damaged, incomplete);
    }
}
