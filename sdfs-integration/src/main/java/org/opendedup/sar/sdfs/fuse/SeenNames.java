package org.opendedup.sar.sdfs.fuse;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.volume.posix.RenameMode;

/**
 * Remembers under which name each inode was last seen, for messages: the metadata has no index from inodes to names.
 * Keeps all inodes of open files, and the {@value #MAX_RECENT} other inodes that were named last: less than 1 MB with
 * names of usual lengths. Keeps one name of an inode with several names. Thread-safe; every call is short.
 */
final class SeenNames {
    static final int MAX_RECENT = 4096;

    private static final long ROOT = 1;

    /** Limit of the folder depth. Linux accepts no longer path, so no deeper one. */
    private static final int MAX_DEPTH = 2048;

    private final int maxRecent;

    /** Guarded by this, like all fields below. Ordered by use: the inode named longest ago is first. */
    private final LinkedHashMap<Long, Seen> recent = new LinkedHashMap<>(64, 0.75f, true);

    private final Map<Long, Seen> open = new HashMap<>();
    private final Map<Place, Seen> byPlace = new HashMap<>();

    /** A name in a directory. */
    private record Place(long directory, byte[] name) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Place place && directory == place.directory && Arrays.equals(name, place.name);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(directory) * 31 + Arrays.hashCode(name);
        }
    }

    private static final class Seen {
        final long inode;
        /** Null if the name is not known or was removed. */
        @Nullable
        Place place;

        int openings;

        Seen(long inode) {
            this.inode = inode;
        }
    }

    SeenNames() {
        this(MAX_RECENT);
    }

    SeenNames(int maxRecent) {
        this.maxRecent = maxRecent;
    }

    /** @param name kept by this object; the caller must not change it */
    synchronized void saw(long directory, byte[] name, long inode) {
        Seen seen = find(inode);
        if (seen == null) {
            seen = new Seen(inode);
            recent.put(inode, seen);
        }
        move(seen, new Place(directory, name));
        keepAbove(directory);
        evict();
    }

    /** Marks the folders above a name as recently used. Without this, the files of a large folder would evict them. */
    private void keepAbove(long directory) {
        long at = directory;
        for (int depth = 0; at != ROOT && depth < MAX_DEPTH; depth++) {
            Seen above = find(at);
            if (above == null || above.place == null) {
                return;
            }
            at = above.place.directory;
        }
    }

    private @Nullable Seen find(long inode) {
        Seen seen = open.get(inode);
        return seen != null ? seen : recent.get(inode);
    }

    private void move(Seen seen, Place place) {
        if (seen.place != null) {
            byPlace.remove(seen.place, seen);
        }
        Seen before = byPlace.put(place, seen);
        if (before != null) {
            before.place = null;
        }
        seen.place = place;
    }

    private void evict() {
        var eldest = recent.values().iterator();
        while (recent.size() > maxRecent) {
            Seen seen = eldest.next();
            eldest.remove();
            if (seen.place != null) {
                byPlace.remove(seen.place, seen);
            }
        }
    }

    synchronized void removed(long directory, byte[] name) {
        Seen seen = byPlace.remove(new Place(directory, name));
        if (seen != null) {
            seen.place = null;
            recent.remove(seen.inode);
        }
    }

    synchronized void renamed(long directory, byte[] name, long newDirectory, byte[] newName, RenameMode mode) {
        Place from = new Place(directory, name);
        Place to = new Place(newDirectory, newName);
        Seen moved = byPlace.remove(from);
        Seen replaced = byPlace.remove(to);
        if (replaced != null) {
            replaced.place = null;
            if (mode == RenameMode.EXCHANGE) {
                move(replaced, from);
            }
        }
        if (moved != null) {
            moved.place = null;
            move(moved, to);
        }
    }

    /** Notes an opening of a file. Its inode is kept until {@link #closed} was called as often as this method. */
    synchronized void opened(long inode) {
        Seen seen = open.get(inode);
        if (seen == null) {
            seen = recent.remove(inode);
            if (seen == null) {
                seen = new Seen(inode);
            }
            open.put(inode, seen);
        }
        seen.openings++;
    }

    synchronized void closed(long inode) {
        Seen seen = open.get(inode);
        if (seen != null && --seen.openings == 0) {
            open.remove(inode);
            if (seen.place != null) {
                recent.put(inode, seen);
                evict();
            }
        }
    }

    /**
     * Returns {@code /folder/name (inode 5)}, from the root of the mount; {@code .../name (inode 5)} if not all folders
     * above are known; {@code inode 5} if no name is known.
     */
    synchronized String of(long inode) {
        if (inode == ROOT) {
            return "/";
        }
        String path = path(inode);
        return path.isEmpty() ? "inode " + inode : path + " (inode " + inode + ")";
    }

    /** As above, for a name in a directory. The name need not exist. */
    synchronized String of(long directory, byte[] name) {
        if (directory == ROOT) {
            return "/" + text(name);
        }
        String path = path(directory);
        return (path.isEmpty() ? "..." : path) + "/" + text(name) + " (in inode " + directory + ")";
    }

    private String path(long inode) {
        List<String> names = new ArrayList<>();
        long at = inode;
        while (at != ROOT && names.size() < MAX_DEPTH) {
            Seen seen = find(at);
            if (seen == null || seen.place == null) {
                break;
            }
            names.add("/" + text(seen.place.name));
            at = seen.place.directory;
        }
        if (names.isEmpty()) {
            return "";
        }
        var path = new StringBuilder(at == ROOT ? "" : "...");
        for (int i = names.size() - 1; i >= 0; i--) {
            path.append(names.get(i));
        }
        return path.toString();
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }
}
