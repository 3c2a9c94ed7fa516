package org.opendedup.sar.cluster;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.common.NoSpaceException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The volumes of a cluster, those that are there, and their blocks. Many threads may store and read blocks. */
final class Volumes implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Volumes.class);

    /** Blocks that are stored or read at the same time. */
    static final int LANES = 8;

    private final NavigableMap<UUID, ClusterNode> nodes;
    private final List<String> absent;
    private final ExecutorService lanes = Executors.newFixedThreadPool(LANES, task -> {
        Thread thread = new Thread(task, "cluster");
        thread.setDaemon(true);
        return thread;
    });
    private volatile Membership membership;

    private Volumes(Membership membership, NavigableMap<UUID, ClusterNode> nodes, List<String> absent) {
        this.membership = membership;
        this.nodes = nodes;
        this.absent = absent;
    }

    /**
     * Opens those that are there.
     *
     * @throws IOException if none is, or they are of different clusters
     */
    static Volumes open(String name, Collection<Path> folders) throws IOException {
        NavigableMap<UUID, ClusterNode> found = new TreeMap<>();
        List<String> absent = new ArrayList<>();
        Membership newest = null;
        for (Path folder : folders) {
            ClusterNode node;
            try {
                node = ClusterNode.open(folder, name);
            } catch (IOException e) {
                absent.add(folder + " (" + e.getMessage() + ")");
                continue;
            }
            ClusterNode other = found.put(node.id(), node);
            if (other != null) {
                throw new IOException(other.folder() + " and " + folder + " are the same volume of " + name
                        + ", or one is a copy of the other; name one");
            }
            Membership list = node.membership();
            if (newest != null && !newest.id().equals(node.cluster())) {
                throw new IOException(folder + " belongs to another cluster with the name " + name);
            }
            newest = newest == null || list != null && list.version() > newest.version() ? list : newest;
        }
        if (newest == null) {
            throw new IOException("no volume of " + name + " is there: " + String.join("; ", absent));
        }
        Membership list = newest;
        found.keySet().removeIf(id -> list.member(id).isEmpty());
        return new Volumes(list, found, absent);
    }

    Membership membership() {
        return membership;
    }

    /** Returns the volumes that are away. */
    List<Member> away() {
        return membership.members().stream()
                .filter(member -> !nodes.containsKey(member.id()))
                .toList();
    }

    /** Returns the folders that have nothing of the cluster, with the reasons, for people. */
    List<String> absent() {
        return absent;
    }

    /** Returns the volumes that are there, in the order of their ids. */
    List<ClusterNode> nodes() {
        return List.copyOf(nodes.values());
    }

    Optional<ClusterNode> node(Member member) {
        return Optional.ofNullable(nodes.get(member.id()));
    }

    boolean has(ClusterNode node) {
        return nodes.containsKey(node.id());
    }

    ExecutorService lanes() {
        return lanes;
    }

    /** @throws IOException if a volume is away; names it */
    void requireAll(String what) throws IOException {
        if (!away().isEmpty()) {
            throw new IOException(what + " needs all volumes of " + membership.name() + ", and these are away: "
                    + String.join(", ", away().stream().map(Member::place).toList()));
        }
    }

    /** @throws IOException if one that is there is no volume of the cluster any more: nobody finds blocks on it */
    void requireMembers() throws IOException {
        for (ClusterNode node : nodes()) {
            Membership list = node.newestMembership();
            for (ClusterNode member : nodes()) {
                if (list != null
                        && list.version() > membership.version()
                        && list.member(member.id()).isEmpty()) {
                    throw new IOException(member.folder() + " was removed from " + list.name()
                            + " just now, and may have blocks that this command needs; repeat it");
                }
            }
        }
    }

    /**
     * Stores a block durably, on the first volume in its order that is there, stays and has room.
     *
     * @return whether it was new
     */
    boolean store(BlockRef block, byte[] bytes) throws IOException {
        IOException full = null;
        for (Member member : membership.order(block.shard())) {
            Optional<ClusterNode> node = member.isLeaving() ? Optional.empty() : node(member);
            if (node.isPresent()) {
                try {
                    return store(node.get(), block, bytes);
                } catch (NoSpaceException e) {
                    log.debug("{} is full", member.place(), e);
                    full = e;
                }
            }
        }
        if (full != null) {
            throw full;
        }
        throw noVolume("blocks");
    }

    private static boolean store(ClusterNode node, BlockRef block, byte[] bytes) throws IOException {
        try {
            if (node.has(block)) {
                return false;
            }
            node.put(block, bytes);
            return true;
        } catch (FileAlreadyExistsException e) {
            // A file of the block's name with another token or length: damage, which must not be built upon.
            throw new IOException(node.folder() + " has a damaged block " + block + "; 'cluster check' names it", e);
        }
    }

    IOException noVolume(String what) {
        return new IOException("no volume of " + membership.name() + " takes " + what + ": all leave, or are away");
    }

    /**
     * Returns the bytes of a block, from the first volume in its order that has them.
     *
     * @throws UnreadableBlockException if no volume that is there has them
     */
    byte[] read(BlockRef block) throws IOException {
        List<Member> order = membership.order(block.shard());
        try {
            return read(block, order);
        } catch (UnreadableBlockException e) {
            // A balance may have moved it meanwhile: to a volume that had been asked, or to one that was added.
            log.debug("{} is looked for again", block, e);
            List<Member> again = new ArrayList<>(added());
            again.addAll(order);
            return read(block, again);
        }
    }

    /** Returns the volumes that were added since these were opened. */
    private Set<Member> added() {
        Set<Member> added = new LinkedHashSet<>();
        for (ClusterNode node : nodes()) {
            try {
                Membership list = node.newestMembership();
                if (list != null && list.version() > membership.version()) {
                    added.addAll(list.members());
                }
            } catch (IOException e) {
                log.debug("{} does not say which volumes there are", node.folder(), e);
            }
        }
        added.removeIf(this::isKnown);
        return added;
    }

    private boolean isKnown(Member member) {
        return membership.member(member.id()).isPresent();
    }

    /** Returns a volume that was added since these were opened, if it is in the folder by which it was added. */
    private Optional<ClusterNode> open(Member added) {
        try {
            return Optional.of(ClusterNode.open(Path.of(added.place()), membership.name()))
                    .filter(node -> node.id().equals(added.id()));
        } catch (IOException e) {
            log.debug("{} is not there", added.place(), e);
            return Optional.empty();
        }
    }

    /** @param members the volumes that are asked, in this order */
    private byte[] read(BlockRef block, List<Member> members) throws IOException {
        List<Member> missed = new ArrayList<>();
        IOException failure = null;
        for (Member member : members) {
            Optional<ClusterNode> node = isKnown(member) ? node(member) : open(member);
            if (node.isEmpty()) {
                missed.add(member);
                continue;
            }
            try {
                return node.get().read(block);
            } catch (NoSuchFileException e) {
                log.debug("{} is not on {}", block, member.place(), e);
            } catch (IOException e) {
                failure = e;
            }
        }
        String where = missed.isEmpty()
                ? "no volume has it"
                : "it may be on a volume that is away: "
                        + String.join(", ", missed.stream().map(Member::place).toList());
        String why = failure == null ? "" : failure.getMessage() + "; ";
        throw new UnreadableBlockException("block " + block + " cannot be read: " + why + where, failure);
    }

    /** Replaces the list of volumes; the caller has given it to them. */
    void set(Membership now) {
        membership = now;
    }

    void put(ClusterNode node) {
        nodes.put(node.id(), node);
    }

    void remove(ClusterNode node) {
        nodes.remove(node.id());
    }

    @Override
    public void close() {
        lanes.shutdownNow();
    }
}
