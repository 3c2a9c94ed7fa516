package org.opendedup.sar.volume.names;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.commit.FileChanges;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;
import org.opendedup.sar.volume.write.FileWriter;

/**
 * The files that got a name which no commit has made durable yet, and what they and the other changed inodes add to a
 * commit: no name appears before its data. Safe for use by many threads.
 */
public final class NamedFiles implements FileChanges {
    private final NodeTable nodes;
    private final FileWriter writer;
    private final Set<Node> named = ConcurrentHashMap.newKeySet();

    public NamedFiles(NodeTable nodes, FileWriter writer) {
        this.nodes = nodes;
        this.writer = writer;
    }

    /** Records that a file got a name, because it was created, linked or renamed. */
    void add(Node node) {
        named.add(node);
    }

    @Override
    public void storeOld() throws IOException {
        writer.storeOlderThan(TimeUnit.MILLISECONDS.toNanos(Committer.periodMs()));
        // Nobody waits: storing them now costs less than logging them first.
        writer.storeTogether(List.copyOf(named));
    }

    @Override
    public boolean areMany() {
        return nodes.hasManyDirty();
    }

    @Override
    public Cut begin() {
        return new NamedCut();
    }

    private final class NamedCut implements Cut {
        private final Set<Node> encoded = ConcurrentHashMap.newKeySet();

        @Override
        public void secure(Lock changes) throws IOException {
            for (Node node : named) {
                named.remove(node);
                // A failure is recorded with the file, for the next sync or close of it. Changes of other files must
                // not fail because of it.
                writer.secureLogging(node);
            }
            nodes.encodeDirtyLinks(changes, encoded);
        }

        @Override
        public boolean isSecured() {
            return named.isEmpty();
        }

        @Override
        public void encode() throws IOException {
            encoded.addAll(nodes.encodeDirty());
        }

        @Override
        public void committed() {
            nodes.evict(encoded);
        }
    }
}
