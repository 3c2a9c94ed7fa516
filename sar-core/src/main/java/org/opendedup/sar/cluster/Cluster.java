package org.opendedup.sar.cluster;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.objects.VersionChangedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cluster as this process sees it: its volumes that are there now, and their blocks. Other processes and machines may
 * use it at the same time. Many threads may store and read blocks; the rest is for one.
 *
 * <p><b>Rules.</b> A block is durable on its volume before an archive names it, and its bytes are compared with its
 * hash whenever they are read. An archive appears with one object, which lists its files and blocks and never changes.
 * So each of its copies is right, however old. A block goes to the first volume of its shard's order that is there, and
 * is looked for along that order.
 */
public final class Cluster implements Closeable {
    private static final String NAME = "[A-Za-z0-9_][A-Za-z0-9_-]{0,63}";

    private static final Logger log = LoggerFactory.getLogger(Cluster.class);

    private final Volumes volumes;
    private final Archives archives;
    private final Notes notes;
    private final BlockShape shape;

    private Cluster(Volumes volumes, BlockShape shape) {
        this.volumes = volumes;
        this.shape = shape;
        archives = new Archives(volumes);
        notes = new Notes(volumes);
    }

    /** Returns whether a cluster may have this name. */
    public static boolean isName(String name) {
        return name.matches(NAME);
    }

    /**
     * Makes a cluster of volumes.
     *
     * @param folders the volumes' folders
     * @throws FileAlreadyExistsException if one has a cluster of this name
     */
    public static void create(String name, Collection<Path> folders) throws IOException {
        UUID id = UUID.randomUUID();
        List<ClusterNode> made = new ArrayList<>();
        Membership list = new Membership(name, id, 0, List.of());
        try {
            for (Path folder : folders) {
                ClusterNode node = ClusterNode.make(folder, name, id);
                made.add(node);
                list = list.with(new Member(node.id(), ClusterNode.weightOf(folder), false, folder.toString()));
            }
        } catch (IOException e) {
            // Another try would find them taken, by a cluster that has no list of volumes.
            for (ClusterNode node : made) {
                node.destroy(name);
            }
            throw e;
        }
        for (ClusterNode node : made) {
            node.give(list);
        }
    }

    /**
     * Opens a cluster.
     *
     * @param folders the volumes' folders, as this machine reaches them; those without anything of the cluster count as
     *     away
     * @throws IOException if none has anything of the cluster, or they are of different clusters
     */
    public static Cluster open(String name, Collection<Path> folders) throws IOException {
        return open(name, folders, BlockShape.USUAL);
    }

    /** As {@link #open(String, Collection)}, with blocks of another shape: small ones for tests. */
    static Cluster open(String name, Collection<Path> folders, BlockShape shape) throws IOException {
        return new Cluster(Volumes.open(name, folders), shape);
    }

    public Membership membership() {
        return volumes.membership();
    }

    /** Returns the volumes that are away. */
    public List<Member> away() {
        return volumes.away();
    }

    /** Returns the folders that have nothing of the cluster, with the reasons, for people. */
    public List<String> absentFolders() {
        return List.copyOf(volumes.absent());
    }

    Volumes volumes() {
        return volumes;
    }

    Archives archives() {
        return archives;
    }

    Notes notes() {
        return notes;
    }

    /**
     * Begins an archive; nothing of it can be seen before its end.
     *
     * @throws FileAlreadyExistsException if there is one of this name
     */
    public ArchiveWriter write(String archive) throws IOException {
        tellMembership();
        return new ArchiveWriter(volumes, archives, notes, shape, archive);
    }

    /**
     * Opens an archive.
     *
     * @throws NoSuchFileException if no volume that is there knows it
     */
    public ArchiveReader archive(String archive) throws IOException {
        return archives.open(archive);
    }

    /**
     * An archive in a list.
     *
     * @param made when it was complete
     * @param files number of files
     * @param bytes length of all files, in bytes
     * @param damage why no copy of its list can be read; empty: one can, else the other figures mean nothing
     */
    public record Listed(String archive, Instant made, long files, long bytes, String damage) {}

    /** Returns the archives that the volumes which are there know, by name. */
    public List<Listed> list() throws IOException {
        List<Listed> all = new ArrayList<>();
        for (String archive : archives.names()) {
            try {
                ArchiveHeader header = archives.header(archive);
                Instant made = Instant.ofEpochMilli(header.madeMillis());
                all.add(new Listed(archive, made, header.files(), header.bytes(), ""));
            } catch (NoSuchFileException e) {
                log.debug("{} was deleted just now", archive, e);
            } catch (IOException e) {
                all.add(new Listed(archive, Instant.EPOCH, 0, 0, String.valueOf(e.getMessage())));
            }
        }
        return all;
    }

    /** Deletes an archive; its blocks stay until {@link ClusterCare#collect}. */
    public void delete(String archive) throws IOException {
        volumes.requireAll("the deletion of an archive");
        if (!archives.names().contains(archive)) {
            throw archives.unknown(archive);
        }
        try (var unused = notes.use("rm " + archive, Notes.Kind.REMOVE)) {
            archives.delete(archive);
        }
    }

    /**
     * Adds a volume; {@link ClusterCare#balance} moves its blocks to it.
     *
     * @throws FileAlreadyExistsException if it belongs to a cluster of this name
     */
    public void add(Path folder) throws IOException {
        volumes.requireAll("a new volume");
        try (var unused = notes.use("add", Notes.Kind.CHANGE)) {
            String name = membership().name();
            ClusterNode left = ClusterNode.left(folder, name, membership().id());
            ClusterNode node = left != null
                    ? left
                    : ClusterNode.make(folder, name, membership().id());
            Membership grown =
                    membership().with(new Member(node.id(), ClusterNode.weightOf(folder), false, folder.toString()));
            change(grown);
            volumes.put(node.give(grown));
        }
    }

    /** Makes a volume leave: it gets no more blocks, and {@link ClusterCare#balance} moves those that it has. */
    public void leave(Path folder) throws IOException {
        volumes.requireAll("the leaving of a volume");
        Member member = member(folder);
        if (membership().members().stream().allMatch(other -> other.isLeaving() || other.equals(member))) {
            throw new IOException("no other volume of " + membership().name() + " stays");
        }
        if (!member.isLeaving()) {
            try (var unused = notes.use("leave", Notes.Kind.CHANGE)) {
                change(membership().with(new Member(member.id(), member.weight(), true, member.place())));
            }
        }
    }

    /**
     * Ends the membership of a volume that leaves and has no block, or is lost.
     *
     * @param isLost whether it will not return: what only it has is gone
     * @throws IOException if it has blocks and is not lost, or the lost one is there
     */
    public void forget(Path folder, boolean isLost) throws IOException {
        Member member = member(folder);
        Optional<ClusterNode> node = volumes.node(member);
        if (isLost == node.isPresent()) {
            throw new IOException(
                    isLost ? folder + " is there, so it is not lost" : folder + " is away; is the volume mounted?");
        }
        if (node.isEmpty()) {
            // A balance on a machine that still reaches it could move blocks there.
            try (var unused = notes.use("remove --lost", Notes.Kind.CHANGE)) {
                change(membership().without(member.id()));
            }
            return;
        }
        // A put may just have stored a block on what is deleted here.
        try (var unused = notes.use("remove", Notes.Kind.ALONE)) {
            if (!member.isLeaving()
                    || !node.get()
                            .store()
                            .list(BlockRef.FOLDER, "", 1)
                            .objects()
                            .isEmpty()) {
                throw new IOException(folder + " has blocks that did not move yet");
            }
            archives.requireOthers(node.get());
            change(membership().without(member.id()));
            volumes.remove(node.get());
            node.get().destroy(membership().name());
        }
    }

    private Member member(Path folder) throws IOException {
        for (ClusterNode node : volumes.nodes()) {
            if (node.folder().equals(folder)) {
                return membership().member(node.id()).orElseThrow();
            }
        }
        for (Member member : away()) {
            if (member.place().equals(folder.toString())) {
                return member;
            }
        }
        throw new NoSuchFileException(
                folder.toString(), null, "no volume of " + membership().name());
    }

    /** @throws IOException if another process changed the list meanwhile */
    private void change(Membership next) throws IOException {
        try {
            // All processes begin with the same volume, so of two changes of one version one alone is made.
            for (ClusterNode node : volumes.nodes()) {
                volumes.put(node.give(next));
            }
        } catch (VersionChangedException e) {
            throw new IOException("another command changes " + next.name() + " now; repeat this one", e);
        }
        volumes.set(next);
    }

    /** Gives the newest list of volumes to those that were away when it changed. */
    void tellMembership() throws IOException {
        for (ClusterNode node : volumes.nodes()) {
            Membership known = node.membership();
            if (known == null || known.version() < membership().version()) {
                volumes.put(node.give(membership()));
            }
        }
    }

    /** Withdraws what was noted of work that goes on: the process ends in the middle of it. */
    public void withdraw() {
        notes.withdraw();
    }

    @Override
    public void close() {
        withdraw();
        volumes.close();
    }
}
