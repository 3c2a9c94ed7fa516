package org.opendedup.sar.volume.send;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.metadata.counts.ReferenceCounts;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Attribute;
import org.opendedup.sar.volume.stream.StreamMessage.Name;
import org.opendedup.sar.volume.stream.StreamPage;

/** Makes messages of what differs, and divides them into windows. For one thread. */
final class StreamBuilder {
    /** Most bytes of names or attributes in one message, about. */
    private static final int MOST_LIST_BYTES = 64 << 10;
    /** Bytes of an entry of a page in memory. */
    private static final int ENTRY_BYTES = 20;

    private static final int MESSAGE_BYTES = 100;

    /** Says what containers list. */
    @FunctionalInterface
    interface Lists {
        /** Returns whether a chunk is listed with this prefix of its fingerprint; false also if that is not known. */
        boolean have(long chunkId, int fingerprintPrefix) throws IOException;
    }

    /** Receives windows that are complete, in order. */
    @FunctionalInterface
    interface WindowConsumer {
        void accept(Window window) throws IOException;
    }

    private final ReferenceCounts counts;
    private final SentChunks sent;
    private final Lists lists;
    private final WindowConsumer consumer;
    private Window window = new Window();
    private long removed;
    private long changed;

    /** What was last added, if it is a list that goes on. */
    private final List<Name> names = new ArrayList<>();

    private final List<Attribute> attributes = new ArrayList<>();
    private final List<StreamPage> pages = new ArrayList<>();
    private long owner;
    private long listBytes;

    StreamBuilder(ReferenceCounts counts, SentChunks sent, Lists lists, WindowConsumer consumer) {
        this.counts = counts;
        this.sent = sent;
        this.lists = lists;
        this.consumer = consumer;
    }

    void removed(long inode) throws IOException {
        endList();
        removed++;
        add(new StreamMessage.Removed(inode), MESSAGE_BYTES);
    }

    void changed(Inode inode) throws IOException {
        endList();
        changed++;
        add(new StreamMessage.Changed(inode), 2L * MESSAGE_BYTES + inode.target().length);
    }

    void attribute(long inode, Attribute attribute) throws IOException {
        byte[] value = attribute.value();
        begin(inode, attributes);
        attributes.add(attribute);
        grow(MESSAGE_BYTES + attribute.name().length + (value == null ? 0 : value.length));
    }

    void name(long directory, Name name) throws IOException {
        begin(directory, names);
        names.add(name);
        grow(MESSAGE_BYTES + name.name().length);
    }

    /** Adds a page whose chunks were told by {@link #needs}. */
    void page(long inode, StreamPage page) throws IOException {
        begin(inode, pages);
        pages.add(page);
        grow(MESSAGE_BYTES + (long) ENTRY_BYTES * page.count());
    }

    /**
     * Notes that the next page of a file needs a chunk. One that the stream has had may have other content than the
     * page says: then it is read once more, and that fails, as each read of the file does.
     */
    void needs(long inode, long chunkId, int fingerprintPrefix) throws IOException {
        if (!sent.add(chunkId) && lists.have(chunkId, fingerprintPrefix)) {
            return;
        }
        int length = counts.length(chunkId);
        if (length == 0) {
            throw new CorruptionException(
                    "inode " + inode, -1, "a recipe of chunks that exist", "one that does not: run a check");
        }
        if (!window.hasRoomForChunk(length)) {
            endList();
            endWindow();
        }
        window.add(chunkId, length, fingerprintPrefix, inode);
    }

    private void begin(long inode, List<?> list) throws IOException {
        boolean goesOn = owner == inode && !list.isEmpty();
        if (!goesOn) {
            endList();
            owner = inode;
        }
    }

    private void grow(long bytes) throws IOException {
        listBytes += bytes;
        if (listBytes >= MOST_LIST_BYTES) {
            endList();
        }
    }

    private void endList() throws IOException {
        long weight = MESSAGE_BYTES + listBytes;
        listBytes = 0;
        if (!attributes.isEmpty()) {
            StreamMessage message = new StreamMessage.Attributes(owner, List.copyOf(attributes));
            attributes.clear();
            add(message, weight);
        } else if (!names.isEmpty()) {
            StreamMessage message = new StreamMessage.Names(owner, List.copyOf(names));
            names.clear();
            add(message, weight);
        } else if (!pages.isEmpty()) {
            StreamMessage message = new StreamMessage.Pages(owner, List.copyOf(pages));
            pages.clear();
            add(message, weight);
        }
    }

    private void add(StreamMessage message, long weight) throws IOException {
        window.add(message, weight);
        if (window.isFull()) {
            endWindow();
        }
    }

    private void endWindow() throws IOException {
        Window complete = window;
        window = new Window();
        if (!complete.isEmpty()) {
            consumer.accept(complete);
        }
    }

    /** Ends the last window. */
    void end() throws IOException {
        endList();
        endWindow();
    }

    long removedInodes() {
        return removed;
    }

    long changedInodes() {
        return changed;
    }
}
