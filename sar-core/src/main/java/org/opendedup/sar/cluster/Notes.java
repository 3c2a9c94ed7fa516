package org.opendedup.sar.cluster;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.SystemError;
import org.opendedup.sar.objects.ObjectSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What processes note on volumes while they do something that excludes others. */
final class Notes {
    private static final Logger log = LoggerFactory.getLogger(Notes.class);

    /** Begins the names of notes, and of no archive. */
    static final String MARK = "=";

    private static final int MOST_BYTES = 1 << 10;
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    private final Volumes volumes;
    private final Set<Use> uses = ConcurrentHashMap.newKeySet();

    Notes(Volumes volumes) {
        this.volumes = volumes;
    }

    /** What processes do, and which others must not do their work meanwhile. */
    enum Kind {
        /** Stores blocks, and relies on those that are there. */
        PUT("working-"),
        /** Moves blocks to where the list of volumes says. */
        MOVE("moving-"),
        /** Deletes an archive, which a move could copy again. Also on full volumes, of which none may take a note. */
        REMOVE("removing-"),
        /** Changes the list of volumes: two moves by different lists could delete each other's copies. */
        CHANGE("changing-"),
        /** Deletes blocks that nothing relies on. */
        ALONE("alone-");

        // In the folder of the archives: a network file system may list a folder as it was a minute ago, unless this
        // machine has just made a file there. So who has noted sees the notes and the archives of others.
        private final String prefix;

        Kind(String word) {
            prefix = ArchiveHeader.FOLDER + MARK + word;
        }

        private boolean excludes(Kind other) {
            return this == ALONE
                    || other == ALONE
                    || this == CHANGE && other != PUT
                    || other == CHANGE && this != PUT
                    || this == REMOVE && other == MOVE
                    || other == REMOVE && this == MOVE;
        }

        /**
         * Returns whether it is noted on all volumes that are there. A machine may reach only some of them: two that
         * exclude each other see each other on any volume that both reach.
         */
        private boolean isOnAll() {
            return this != PUT;
        }

        /** Returns whether it does not begin while a volume has no room for its note. */
        private boolean needsRoom() {
            return this == CHANGE || this == ALONE;
        }
    }

    /** What a process does that deletes blocks, or relies on it that none is deleted. */
    final class Use implements Closeable {
        private final String object;
        private final List<ClusterNode> noted = new CopyOnWriteArrayList<>();

        private Use(String object) {
            this.object = object;
        }

        private void note(ObjectSource text, Kind kind) throws IOException {
            IOException full = null;
            for (ClusterNode node : volumes.nodes()) {
                if (kind.isOnAll() || noted.isEmpty()) {
                    try {
                        node.store().put(object, text);
                        noted.add(node);
                    } catch (NoSpaceException e) {
                        full = e;
                    } catch (IOException e) {
                        if (kind != Kind.MOVE || !SystemError.READ_ONLY.isIn(e.getMessage())) {
                            throw e;
                        }
                        // Its disk failed, perhaps: what it still has is copied from there.
                        full = e;
                    }
                }
            }
            if (full != null && (kind.needsRoom() || kind != Kind.REMOVE && noted.isEmpty())) {
                throw full;
            }
        }

        /**
         * Does nothing if the note is there since it was made: nothing that it excludes was done meanwhile. A lost
         * volume is given up without asking for notes, so the lists of volumes are compared, too.
         *
         * @throws IOException if it is not there: it was taken for one of a killed process, or went with its volume. Or
         *     if a volume was given up
         */
        void requireNoted() throws IOException {
            volumes.requireMembers();
            for (ClusterNode node : noted) {
                try {
                    node.store().status(object);
                } catch (NoSuchFileException e) {
                    throw new IOException(
                            node.folder() + " does not have the note of this command any more, so blocks that it needs"
                                    + " may have been deleted; repeat it",
                            e);
                }
            }
        }

        @Override
        public void close() {
            if (!uses.remove(this)) {
                return;
            }
            for (ClusterNode node : noted) {
                if (!volumes.has(node)) {
                    continue; // Its membership ended.
                }
                try {
                    node.store().delete(List.of(object));
                } catch (IOException e) {
                    log.warn("{} keeps the note {}", node.folder(), object, e);
                }
            }
        }
    }

    /**
     * Notes on volumes that this process does something, until it is closed. Who must be alone needs all volumes. A put
     * is noted on one of those that are there, all else on each. Each first notes and then looks for notes of others,
     * so of two that exclude each other one at least sees the other.
     *
     * @throws IOException if another process does something that excludes this; it may have been killed. Or if the list
     *     of volumes changed since this process read it
     */
    Use use(String what, Kind kind) throws IOException {
        if (kind == Kind.ALONE) {
            volumes.requireAll(what);
        }
        String note = what + ", process " + ProcessHandle.current().pid() + " of " + machineName() + " since "
                + Instant.now();
        Use use = new Use(kind.prefix + UUID.randomUUID());
        uses.add(use);
        try {
            use.note(ObjectSource.of(note.getBytes(StandardCharsets.UTF_8)), kind);
            for (String other : notes(kind)) {
                if (!other.equals(use.object)) {
                    throw new IOException("this has to wait for another command: " + textOf(other)
                            + ". If that was killed: 'cluster gc --ignore-unfinished'");
                }
            }
            for (ClusterNode node : volumes.nodes()) {
                node.requireSameMembers();
            }
            return use;
        } catch (IOException e) {
            use.close();
            throw e;
        }
    }

    private static String machineName() {
        try {
            return Files.readString(HOST_NAME).strip();
        } catch (IOException e) {
            log.debug("the machine's name cannot be read", e);
            return "a machine";
        }
    }

    /** Returns the notes of what excludes a kind of work. */
    private SortedSet<String> notes(Kind kind) throws IOException {
        SortedSet<String> notes = new TreeSet<>();
        for (ClusterNode node : volumes.nodes()) {
            for (Kind other : Kind.values()) {
                if (kind.excludes(other)) {
                    node.store().listAll(other.prefix, "").forEach(object -> notes.add(object.name()));
                }
            }
        }
        return notes;
    }

    private String textOf(String note) {
        for (ClusterNode node : volumes.nodes()) {
            try {
                return new String(node.store().readWhole(note, MOST_BYTES), StandardCharsets.UTF_8);
            } catch (IOException e) {
                log.debug("{} has no note {}", node.folder(), note, e);
            }
        }
        return "it ended just now";
    }

    /** Forgets what other processes noted: they were killed. */
    void removeAll() throws IOException {
        for (ClusterNode node : volumes.nodes()) {
            node.store().delete(notes(Kind.ALONE));
        }
    }

    /** Withdraws what this process noted: it ends in the middle of its work. */
    void withdraw() {
        uses.forEach(Use::close);
    }
}
