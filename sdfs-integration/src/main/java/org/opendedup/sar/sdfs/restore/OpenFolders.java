package org.opendedup.sar.sdfs.restore;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.io.handle.FileStatus;
import org.opendedup.sar.io.handle.Handle;

/**
 * The folders of a tree at its destination, opened on demand; a bounded number stays open. Each is opened below an open
 * folder, and used only if no other user may have changed its contents: so its entries are those that the restore made.
 * For one thread at a time.
 */
final class OpenFolders implements Closeable {
    private static final int MAX_OPEN = 64;

    private final Libc posix;
    private final Descent descent;
    private final EntryLog entries;
    private final DestinationRoot root;
    private final Map<Long, Handle> open = new LinkedHashMap<>(16, 0.75f, true);

    OpenFolders(Libc posix, EntryLog entries, DestinationRoot root) {
        this.posix = posix;
        this.entries = entries;
        this.root = root;
        descent = new Descent(posix);
    }

    /** Returns a folder of the tree by its number. This class keeps ownership; use it before the next call. */
    Handle get(long number) throws IOException {
        List<byte[]> names = new ArrayList<>();
        long at = number;
        Handle handle;
        while ((handle = known(at)) == null) {
            TreeEntry entry = entries.read(at);
            names.add(entry.name());
            at = entry.parent();
        }
        Collections.reverse(names);
        return names.isEmpty() ? handle : descend(handle, names, number);
    }

    private @Nullable Handle known(long number) {
        return number == EntryLog.ROOT ? root.handle() : open.get(number);
    }

    /** Also keeps the folders on the way, if the descent has several steps: the next descent begins there. */
    private Handle descend(Handle from, List<byte[]> names, long number) throws IOException {
        Handle at = from;
        for (int done = 0; done < names.size(); ) {
            List<byte[]> rest = names.subList(done, names.size());
            int count = descent.count(rest);
            done += count;
            long reached = ancestor(number, names.size() - done);
            at = open(at, rest.subList(0, count), reached);
        }
        return at;
    }

    private long ancestor(long number, int levels) throws IOException {
        long at = number;
        for (int i = 0; i < levels; i++) {
            at = entries.read(at).parent();
        }
        return at;
    }

    private Handle open(Handle folder, List<byte[]> names, long number) throws IOException {
        int fd = descent.open(folder.fd(), names);
        if (fd < 0) {
            throw posix.failure("opening", root.text(entries, number));
        }
        Handle handle = new Handle(posix, fd, false, root.toString()).verified(opened -> {
            FileStatus status = opened.status();
            if (!status.isWrittenOnlyBy(root.user()) || status.device() != root.device()) {
                throw new IOException(root.text(entries, number) + " is not the folder that the restore has made");
            }
        });
        keep(number, handle);
        return handle;
    }

    private void keep(long number, Handle handle) {
        if (open.size() == MAX_OPEN) {
            Map.Entry<Long, Handle> oldest = open.entrySet().iterator().next();
            oldest.getValue().close();
            open.remove(oldest.getKey());
        }
        open.put(number, handle);
    }

    /** Closes a folder that is no longer needed. */
    void release(long number) {
        Handle handle = open.remove(number);
        if (handle != null) {
            handle.close();
        }
    }

    @Override
    public void close() {
        open.values().forEach(Handle::close);
        open.clear();
    }
}
