package org.opendedup.sar.volume.write;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.volume.node.DirtyExtents;
import org.opendedup.sar.volume.node.Node;

/** The files with dirty bytes. Safe for use by many threads. */
final class DirtyFiles implements Iterable<Node> {
    private final Set<Node> files = ConcurrentHashMap.newKeySet();

    /** Adds a file whose first dirty byte is being written. Called with its monitor held. */
    void add(Node node, Node.Contents contents) {
        contents.dirtySinceNs = System.nanoTime();
        files.add(node);
    }

    void remove(Node node) {
        files.remove(node);
    }

    /** Returns the files; files that are added or removed meanwhile may be missing or not. */
    @Override
    public Iterator<Node> iterator() {
        return files.iterator();
    }

    /** Called after dirty bytes were dropped. Removes a file that has none left. */
    void noteDropped(Node node) {
        synchronized (node) {
            Node.Contents contents = node.contents;
            if (contents == null || contents.isClean()) {
                files.remove(node);
            }
        }
    }

    /** Returns the files in the order in which their oldest dirty bytes were written. */
    List<Node> byAge() {
        record Aged(Node node, long sinceNs) {}
        List<Aged> aged = new ArrayList<>();
        for (Node node : files) {
            synchronized (node) {
                if (node.contents != null) {
                    aged.add(new Aged(node, node.contents.dirtySinceNs));
                }
            }
        }
        long now = System.nanoTime();
        aged.sort(Comparator.comparingLong(file -> file.sinceNs - now));
        return aged.stream().map(Aged::node).toList();
    }

    /** Returns the files whose oldest dirty byte is at least {@code ageNs} nanoseconds old. */
    List<Node> olderThan(long ageNs) {
        long now = System.nanoTime();
        List<Node> old = new ArrayList<>();
        for (Node node : files) {
            synchronized (node) {
                if (node.contents != null && now - node.contents.dirtySinceNs >= ageNs) {
                    old.add(node);
                }
            }
        }
        return old;
    }

    /** Returns the number of bytes that are neither stored nor in the intent log, by inode, at this moment. */
    Map<Long, Long> unloggedBytes() {
        Map<Long, Long> bytes = new HashMap<>();
        for (Node node : files) {
            synchronized (node) {
                if (node.contents != null && !node.contents.isClean()) {
                    DirtyExtents.Run stored = node.contents.stored;
                    long unlogged = node.contents.dirty.unlogged().bytes();
                    long sum = unlogged + (stored == null ? 0 : stored.bytes());
                    if (sum > 0) {
                        bytes.put(node.id, sum);
                    }
                }
            }
        }
        return bytes;
    }
}
