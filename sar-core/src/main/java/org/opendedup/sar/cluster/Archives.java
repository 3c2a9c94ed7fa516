package org.opendedup.sar.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.opendedup.sar.cluster.Membership.Member;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Sha256;
import org.opendedup.sar.objects.ObjectNames;
import org.opendedup.sar.objects.ObjectPage;
import org.opendedup.sar.objects.ObjectSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The objects of archives: their copies, and what they are called. */
final class Archives {
    private static final Logger log = LoggerFactory.getLogger(Archives.class);

    /** Copies of an archive's object, which has no bytes of files: it is small, and without it no file can be found. */
    private static final int COPIES = 3;

    private final Volumes volumes;

    Archives(Volumes volumes) {
        this.volumes = volumes;
    }

    /** @throws NoSuchFileException if no volume that is there knows the archive */
    ArchiveReader open(String archive) throws IOException {
        return ofCopy(archive, node -> new ArchiveReader(volumes, node.store(), objectOf(archive)));
    }

    /** Returns the begin of an archive, which tells how large it is. */
    ArchiveHeader header(String archive) throws IOException {
        return ofCopy(archive, node -> ArchiveReader.header(node.store(), objectOf(archive)));
    }

    /** Returns the names of the archives that the volumes which are there know. */
    SortedSet<String> names() throws IOException {
        SortedSet<String> names = new TreeSet<>();
        for (ClusterNode node : volumes.nodes()) {
            names.addAll(namesOn(node));
        }
        return names;
    }

    private static List<String> namesOn(ClusterNode node) throws IOException {
        List<String> names = new ArrayList<>();
        for (ObjectPage.Entry object : node.store().listAll(ArchiveHeader.FOLDER, "")) {
            String name = object.name().substring(ArchiveHeader.FOLDER.length());
            if (!name.startsWith(Notes.MARK)) {
                names.add(name);
            }
        }
        return names;
    }

    /** Returns the name of an archive's object. */
    static String objectOf(String archive) {
        if (archive.contains("/") || archive.startsWith(Notes.MARK)) {
            throw new IllegalArgumentException(
                    "the name of an archive has no / and does not begin with " + Notes.MARK + ": " + archive);
        }
        return ObjectNames.checked(ArchiveHeader.FOLDER + archive);
    }

    private List<Member> orderOf(String archive) {
        byte[] hash = Sha256.newDigest().digest(archive.getBytes(StandardCharsets.UTF_8));
        return volumes.membership()
                .order(BlockShape.shardOf(ByteBuffer.wrap(hash).getLong()));
    }

    /** Returns the volumes that have copies of an archive's object, or get them now: in the order of its name. */
    List<ClusterNode> holders(String archive) {
        return takers(archive).stream().limit(COPIES).toList();
    }

    private List<ClusterNode> takers(String archive) {
        return orderOf(archive).stream()
                .filter(member -> !member.isLeaving())
                .flatMap(member -> volumes.node(member).stream())
                .toList();
    }

    @FunctionalInterface
    private interface Reading<T> {
        T read(ClusterNode node) throws IOException;
    }

    /** Reads the first copy of an archive's object that can be read. */
    private <T> T ofCopy(String archive, Reading<T> reading) throws IOException {
        IOException failure = null;
        for (Member member : orderOf(archive)) {
            Optional<ClusterNode> node = volumes.node(member);
            if (node.isPresent()) {
                try {
                    return reading.read(node.get());
                } catch (NoSuchFileException e) {
                    log.debug("{} is not on {}", archive, member.place(), e);
                } catch (IOException e) {
                    failure = e;
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        throw unknown(archive);
    }

    /** Receives what is wrong with a copy. */
    @FunctionalInterface
    interface Damage {
        void of(ClusterNode node, IOException failure) throws IOException;
    }

    /**
     * Reads all copies of an archive's object, and returns one reader for each contents that they have. Two machines
     * which see no volume in common can both make an archive of one name, so there can be several.
     *
     * @param damage receives the copies that cannot be read
     */
    List<ArchiveReader> variants(String archive, Collection<ClusterNode> nodes, Damage damage) throws IOException {
        List<ArchiveReader> readers = new ArrayList<>();
        Set<UUID> tokens = new HashSet<>();
        for (ClusterNode node : nodes) {
            try {
                ArchiveReader reader = new ArchiveReader(volumes, node.store(), objectOf(archive));
                if (tokens.add(reader.source().token())) {
                    readers.add(reader);
                }
            } catch (NoSuchFileException e) {
                log.debug("{} is not on {}", archive, node.folder(), e);
            } catch (IOException e) {
                damage.of(node, e);
            }
        }
        return readers;
    }

    /** @throws IOException if a volume has the only copy of an archive's object that can be read; names it */
    void requireOthers(ClusterNode leaver) throws IOException {
        List<ClusterNode> others = volumes.nodes().stream()
                .filter(node -> !node.id().equals(leaver.id()))
                .toList();
        for (String archive : namesOn(leaver)) {
            Damage damage = (node, e) -> log.warn("{} has a damaged copy of archive {}", node.folder(), archive, e);
            Set<UUID> there = tokens(variants(archive, others, damage));
            if (!there.containsAll(tokens(variants(archive, List.of(leaver), damage)))) {
                throw new IOException(leaver.folder() + " has the only list of archive " + archive
                        + "; no other volume had room for it");
            }
        }
    }

    private static Set<UUID> tokens(List<ArchiveReader> readers) {
        return readers.stream().map(reader -> reader.source().token()).collect(Collectors.toSet());
    }

    /**
     * Makes an archive: its object gets {@link #COPIES} copies, on the first volumes that take one.
     *
     * @throws FileAlreadyExistsException if there is one of this name
     */
    void publish(String archive, ObjectSource source) throws IOException {
        List<ClusterNode> given = new ArrayList<>();
        IOException failure = null;
        // All processes begin with the same volume, so of two archives with one name one alone gets it.
        for (ClusterNode node : takers(archive)) {
            if (given.size() == COPIES) {
                break;
            }
            try {
                node.store().put(objectOf(archive), source);
                given.add(node);
            } catch (FileAlreadyExistsException e) {
                for (ClusterNode before : given) {
                    before.store().delete(List.of(objectOf(archive)));
                }
                throw nameTaken(archive);
            } catch (IOException e) {
                log.warn("{} has no copy of archive {} yet; 'cluster balance' makes it", node.folder(), archive, e);
                failure = e;
            }
        }
        if (given.isEmpty()) {
            throw failure == null ? volumes.noVolume("archives") : failure;
        }
    }

    FileAlreadyExistsException nameTaken(String archive) {
        return new FileAlreadyExistsException(
                archive, null, volumes.membership().name() + " has an archive of this name; archives do not change");
    }

    /** Deletes the object of an archive on each volume where that is possible. */
    void delete(String archive) throws IOException {
        Closing each = new Closing();
        for (ClusterNode node : volumes.nodes()) {
            each.run(() -> node.store().delete(List.of(objectOf(archive))));
        }
        each.finish();
    }

    NoSuchFileException unknown(String archive) {
        return new NoSuchFileException(
                archive,
                null,
                "no archive of " + volumes.membership().name() + " has this name"
                        + (volumes.away().isEmpty() ? "" : "; volumes are away"));
    }
}
