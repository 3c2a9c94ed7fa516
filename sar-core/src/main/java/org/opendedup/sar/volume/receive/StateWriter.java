package org.opendedup.sar.volume.receive;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.chunk.Chunker;
import org.opendedup.sar.chunk.Segment;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.GracePeriod;
import org.opendedup.sar.common.WriteFailedException;
import org.opendedup.sar.ingest.IngestPipeline;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.Namespace.AttributeBytes;
import org.opendedup.sar.metadata.quota.Account;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.record.ReplicaRecord;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.volume.commit.Committer;
import org.opendedup.sar.volume.file.FileLengths;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.parts.VolumeContext;
import org.opendedup.sar.volume.stream.StreamMessage.Attribute;
import org.opendedup.sar.volume.stream.StreamMessage.Attributes;
import org.opendedup.sar.volume.stream.StreamMessage.ChunkList;
import org.opendedup.sar.volume.stream.StreamMessage.Chunks;
import org.opendedup.sar.volume.stream.StreamMessage.Name;
import org.opendedup.sar.volume.stream.StreamMessage.Names;
import org.opendedup.sar.volume.stream.StreamMessage.Pages;
import org.opendedup.sar.volume.stream.StreamPage;

/**
 * Makes the records of the volume those of another state, as a stream says. Everything that it does may be done again
 * from an earlier position, because what the stream takes from the base is read in the base's snapshot and not in the
 * files. Chunks are collected to a segment, and changes until it is full; then the chunks are stored, and the changes
 * made in one step, which also notes the position. So each commit has a position and what belongs to it.
 *
 * <p>The number of bytes and files of the volume, and what users, groups and projects use, change with each record.
 * Quotas refuse nothing. Nobody else uses the files meanwhile. For one thread.
 */
final class StateWriter implements Closeable {
    /** Changes that are collected, and references in pages among them: some MB, with those of the segment. */
    private static final int MAX_WEIGHT = 1 << 16;
    /** Bytes that weigh as a reference in a page does. */
    private static final int BYTES_OF_WEIGHT = 32;
    /** Chunks that were stored or found, and that no page refers to yet: 50 bytes of heap each. */
    private static final int MAX_UNREFERENCED = 1 << 16;
    /** Records that one step of a removal changes. */
    private static final int REMOVED_AT_ONCE = 1024;
    /** Bytes of the metadata that a step may take. */
    private static final long STEP_BYTES = 8 << 20;

    private final VolumeContext context;
    private final MetadataStore metadata;
    private final Namespace namespace;
    private final RecipeStore recipes;
    private final Committer committer;
    private final ReceivedChunks chunks;
    /** Number of the base's snapshot in this volume; 0: the stream has everything. */
    private final long base;
    /** No inode from this number on is in the stream: programs make theirs from here on. */
    private final long firstInode;

    private final ReplicaRecord record;
    private final List<Closing.Step> changes = new ArrayList<>();
    /** What the stream says of the chunks of the segment. */
    private final List<Sent> sent = new ArrayList<>();

    private final Segment segment = new Segment(IngestPipeline.SEGMENT_BYTES);
    private int filled;
    private int weight;
    /** Where a stream would have to go on after the collected changes. */
    private long reachedInode;

    private long reachedPage;
    /** The inode that was put or removed last: a stream says that of each once. */
    private long recordOf;
    /** Whether the position is not noted. */
    private boolean isPositionFixed;
    /** The inode that changes now, as its record is. */
    private @Nullable Inode now;
    /** The page of the base that was read last. */
    private RecipePage basePage = RecipePage.EMPTY;

    private long basePageInode;
    private long basePageNumber;

    /** Local copies of chunks that no recipe refers to, perhaps: no collection may take them. */
    private final Set<Long> unreferenced = new HashSet<>();

    private GracePeriod.@Nullable Use use;

    /** What a stream calls a chunk. */
    private record Sent(long id, byte[] fingerprint) {}

    /**
     * @param scratch an empty folder
     * @param base number of the base's snapshot in this volume; 0: there is none
     * @param firstInode no inode from this number on is in the stream
     * @param record what is noted of this receive, with the position where it begins
     */
    StateWriter(VolumeContext context, Path scratch, long base, long firstInode, ReplicaRecord record)
            throws IOException {
        this.context = context;
        this.base = base;
        this.firstInode = firstInode;
        this.record = record;
        metadata = context.metadata();
        namespace = metadata.namespace();
        recipes = metadata.recipes();
        committer = context.committer();
        ReplicaRecord.UnderWay underWay = underWay();
        reachedInode = underWay.inode();
        reachedPage = underWay.page();
        chunks = new ReceivedChunks(scratch, context.keys());
    }

    private ReplicaRecord.UnderWay underWay() {
        return Objects.requireNonNull(record.underWay());
    }

    // --- what a stream says

    /** Begins an inode, which is new or has another record. */
    void put(Inode inode) throws IOException {
        beginRecord(inode.id());
        if (inode.size() > FileLengths.MAX_FILE_BYTES) {
            throw damaged("a file of at most " + FileLengths.MAX_FILE_BYTES + " bytes", inode.size() + " bytes");
        }
        Inode before = namespace.inode(inode.id());
        if (before != null && before.isFile() && before.size() > inode.size()) {
            flush();
            // The record changes last: as long as it says that there are pages, they are looked for again.
            removePages(before.id(), (inode.size() + recipes.pageBytes() - 1) / recipes.pageBytes());
        }
        later(weightOf(inode.target().length), () -> putNow(inode));
    }

    private void beginRecord(long inode) throws CorruptionException {
        if (inode <= recordOf) {
            throw damaged("the record of each inode once, in ascending order", inode + " after " + recordOf);
        }
        recordOf = inode;
        begin(inode);
    }

    private void begin(long inode) throws CorruptionException {
        requireBelowFirst(inode);
        if (inode < reachedInode) {
            throw damaged("inodes in ascending order", inode + " after " + reachedInode);
        }
        if (inode > reachedInode) {
            reachedInode = inode;
            reachedPage = 0;
        }
    }

    private void requireBelowFirst(long inode) throws CorruptionException {
        if (inode >= firstInode) {
            throw damaged("inodes below " + firstInode, String.valueOf(inode));
        }
    }

    private void putNow(Inode inode) throws IOException {
        Inode before = namespace.inode(inode.id());
        Account account = metadata.account(inode);
        long data = 0;
        if (before == null) {
            metadata.countNew(account, true);
        } else {
            if (before.type() != inode.type()) {
                throw damaged("inode " + inode.id() + " with the type that it has", String.format("%o", inode.mode()));
            }
            data = before.dataBytes();
            Account old = metadata.account(before);
            if (old != account) {
                metadata.quotas().move(old, account, new Quotas.Charge(data, data), true);
            }
        }
        Inode made = inode.withBytes(inode.size(), data);
        namespace.put(made);
        now = made;
    }

    void change(Attributes attributes) throws IOException {
        begin(attributes.inode());
        for (Attribute attribute : attributes.attributes()) {
            byte[] value = attribute.value();
            later(weightOf(value == null ? 0 : value.length), () -> {
                if (value == null) {
                    namespace.removeAttribute(attributes.inode(), attribute.name());
                } else {
                    namespace.putAttribute(attributes.inode(), attribute.name(), value);
                }
            });
        }
        later(1, () -> requireFewAttributes(attributes.inode()));
    }

    /** While those of the base become those of the target, an inode may have as many as both together. */
    private void requireFewAttributes(long inode) throws IOException {
        AttributeBytes all = namespace.attributeBytes(inode);
        if (all.names() > 2 * ExtendedAttributes.MAX_LIST_BYTES
                || all.values() > 2 * ExtendedAttributes.MAX_VALUES_BYTES) {
            throw damaged("attributes that a file can have", "those of inode " + inode + ", which take " + all);
        }
    }

    void change(Names names) throws IOException {
        begin(names.directory());
        later(1, () -> requireDirectory(names.directory()));
        for (Name name : names.names()) {
            requireBelowFirst(name.inode());
            if (name.inode() == Inode.ROOT || Namespace.isSnapshotFolder(names.directory(), name.name())) {
                throw damaged("a name that a file can have", EntryNames.text(name.name()) + " of " + name.inode());
            }
            later(weightOf(name.name().length), () -> {
                if (name.inode() == 0) {
                    namespace.removeEntry(names.directory(), name.name());
                } else {
                    namespace.putEntry(names.directory(), name.name(), name.inode(), name.type());
                }
            });
        }
    }

    private void requireDirectory(long inode) throws IOException {
        Inode directory = now != null && now.id() == inode ? now : namespace.inode(inode);
        if (directory == null || !directory.isDirectory()) {
            throw damaged("names in a directory", "inode " + inode + ", which is none");
        }
    }

    void change(Pages pages) throws IOException {
        begin(pages.inode());
        for (StreamPage page : pages.pages()) {
            later(1 + page.count(), () -> replace(pages.inode(), page));
            reachedPage = page.number() + 1;
        }
    }

    /** Takes chunks that later pages refer to. */
    void add(Chunks message) throws IOException {
        ChunkList list = message.chunks();
        byte[] fingerprints = list.fingerprints();
        int at = 0;
        for (int i = 0; i < list.count(); i++) {
            int length = list.lengths()[i];
            if (length > Chunker.LONGEST_BYTES) {
                throw damaged("chunks of at most " + Chunker.LONGEST_BYTES + " bytes", length + " bytes");
            }
            if (filled + length > IngestPipeline.SEGMENT_BYTES) {
                flush();
            }
            System.arraycopy(message.data(), at, segment.data(), filled, length);
            segment.add(filled, length, false);
            int from = i * Fingerprints.BYTES;
            sent.add(new Sent(list.ids()[i], Arrays.copyOfRange(fingerprints, from, from + Fingerprints.BYTES)));
            filled += length;
            at += length;
        }
    }

    /** Returns which of the offered chunks the volume lacks, and keeps the others until pages refer to them. */
    byte[] lacking(ChunkList offered) throws IOException {
        flush();
        holdCopies();
        Segment asked = new Segment(0);
        for (int i = 0; i < offered.count(); i++) {
            asked.add(0, offered.lengths()[i], false);
        }
        System.arraycopy(offered.fingerprints(), 0, asked.fingerprints(), 0, offered.fingerprints().length);
        context.ingest().findChunks(asked);
        byte[] lacking = new byte[(offered.count() + Byte.SIZE - 1) / Byte.SIZE];
        for (int i = 0; i < offered.count(); i++) {
            long copy = asked.chunkId(i);
            if (copy == ChunkId.NONE || metadata.counts().length(copy) != offered.lengths()[i]) {
                lacking[i / Byte.SIZE] |= (byte) (1 << i % Byte.SIZE);
            } else {
                note(offered.ids()[i], asked, i);
            }
        }
        releaseCopies();
        return lacking;
    }

    /** Removes an inode with everything that belongs to it. */
    void remove(long inode) throws IOException {
        beginRecord(inode);
        flush();
        Inode before = namespace.inode(inode);
        if (before != null && before.isDirectory()) {
            removeNames(inode);
        }
        removePages(inode, 0);
        reachedInode = inode + 1;
        reachedPage = 0;
        later(1, () -> {
            for (byte[] name : namespace.attributes(inode)) {
                namespace.removeAttribute(inode, name);
            }
            if (before != null) {
                metadata.count(metadata.account(before), 0, -1);
                namespace.remove(inode);
            }
            now = null;
        });
    }

    /** Removes all files of the volume, and leaves the position as it is: at the begin. */
    void removeAll() throws IOException {
        isPositionFixed = true;
        List<Long> inodes = new ArrayList<>();
        long next = Inode.ROOT + 1;
        while (next != 0) {
            inodes.clear();
            next = namespace.someInodes(next, REMOVED_AT_ONCE, inode -> inodes.add(inode.id()));
            for (long inode : inodes) {
                remove(inode);
            }
        }
        removeNames(Inode.ROOT);
        for (byte[] name : namespace.attributes(Inode.ROOT)) {
            later(1, () -> namespace.removeAttribute(Inode.ROOT, name));
        }
        Inode root = Objects.requireNonNull(namespace.inode(Inode.ROOT));
        later(1, () -> namespace.put(root.withLinks(2)));
        flush();
    }

    // --- steps

    /** Returns the weight of a change with so many bytes. */
    private static int weightOf(int bytes) {
        return 1 + bytes / BYTES_OF_WEIGHT;
    }

    private void later(int changeWeight, Closing.Step change) throws IOException {
        changes.add(change);
        weight += changeWeight;
        if (weight >= MAX_WEIGHT) {
            flush();
        }
    }

    /** Stores the collected chunks, and makes the collected changes. */
    void flush() throws IOException {
        if (changes.isEmpty() && segment.count() == 0) {
            return;
        }
        admit();
        store();
        committer.changes().lock();
        try {
            for (Closing.Step change : changes) {
                change.run();
            }
            if (!isPositionFixed) {
                ReplicaRecord.UnderWay underWay = underWay();
                metadata.setReplica(record.with(
                        new ReplicaRecord.UnderWay(underWay.base(), underWay.target(), reachedInode, reachedPage)));
            }
        } finally {
            committer.changes().unlock();
        }
        changes.clear();
        weight = 0;
        releaseCopies();
    }

    /** Makes room. Garbage is collected for it only while all stored chunks have references. */
    private void admit() throws IOException {
        committer.checkWritable();
        if (use == null) {
            context.collector().admitData(filled, context::underWayBytes);
            context.collector().admitMetadata(STEP_BYTES);
        } else {
            context.devices().admitData(filled, context.underWayBytes());
            context.devices().admitMetadata(STEP_BYTES);
        }
    }

    private void store() throws IOException {
        holdCopies();
        if (segment.count() == 0) {
            return;
        }
        try {
            context.ingest().storeChunks(segment, Inode.ROOT);
        } catch (WriteFailedException e) {
            throw committer.stoppedBy(e);
        }
        for (int chunk = 0; chunk < segment.count(); chunk++) {
            int from = Segment.fingerprintOffset(chunk);
            byte[] found = Arrays.copyOfRange(segment.fingerprints(), from, from + Fingerprints.BYTES);
            if (!Arrays.equals(found, sent.get(chunk).fingerprint)) {
                throw damaged("a chunk with its fingerprint", "another content");
            }
            note(sent.get(chunk).id, segment, chunk);
        }
        segment.clear();
        sent.clear();
        filled = 0;
    }

    private void note(long sentId, Segment of, int chunk) throws IOException {
        long copy = of.chunkId(chunk);
        int prefix = Fingerprints.fingerprintPrefix(of.fingerprints(), Segment.fingerprintOffset(chunk));
        chunks.put(sentId, new ReceivedChunks.Copy(copy, prefix, of.length(chunk)));
        unreferenced.add(copy);
        if (unreferenced.size() > MAX_UNREFERENCED) {
            throw damaged("pages for its chunks", "more than " + MAX_UNREFERENCED + " chunks without one");
        }
    }

    private void holdCopies() {
        if (use == null) {
            use = context.collector().uses().begin();
        }
    }

    private void releaseCopies() {
        if (unreferenced.isEmpty() && use != null) {
            use.close();
            use = null;
        }
    }

    // --- pages

    private void replace(long inode, StreamPage from) throws IOException {
        Inode file = file(inode);
        // Of a number above that of the last page, the first byte may have no number of 64 bits.
        if (from.number() > file.size() / recipes.pageBytes()
                || from.bytes() > recipes.pageBytes()
                || from.bytes() > file.size() - from.number() * recipes.pageBytes()) {
            throw damaged("a page within inode " + inode, "page " + from.number() + " of " + from.bytes() + " bytes");
        }
        RecipePage page = page(inode, from);
        if (!metadata.counts().hasRoomFor(page)) {
            throw new IOException(
                    "a chunk of inode " + inode + " has as many references as can be counted, or is gone");
        }
        replace(file, from.number(), page);
        for (int entry = 0; entry < page.count(); entry++) {
            unreferenced.remove(page.chunkId(entry));
        }
    }

    private Inode file(long inode) throws IOException {
        Inode file = now != null && now.id() == inode ? now : namespace.inode(inode);
        if (file == null || !file.isFile()) {
            throw damaged("pages of a file", "inode " + inode + ", which is none");
        }
        return file;
    }

    private RecipePage page(long inode, StreamPage from) throws IOException {
        RecipePage.Builder page = new RecipePage.Builder();
        for (int entry = 0; entry < from.count(); entry++) {
            int length = from.length(entry);
            switch (from.source(entry)) {
                case ZEROS -> page.add(ChunkId.NONE, 0, length, 0);
                case BASE -> addFromBase(page, inode, from.baseOffset(entry), length);
                case CHUNK -> {
                    ReceivedChunks.Copy copy = chunks.find(from.chunkId(entry));
                    if (copy == null || from.chunkOffset(entry) > copy.length() - length) {
                        throw damaged("a chunk that it has", ChunkId.toString(from.chunkId(entry)));
                    }
                    page.add(copy.id(), from.chunkOffset(entry), length, copy.fingerprintPrefix());
                }
            }
        }
        return page.build();
    }

    private void addFromBase(RecipePage.Builder page, long inode, long offset, int length) throws IOException {
        if (base == 0) {
            throw damaged("no bytes of a base", "some, and it has no base");
        }
        int pageBytes = recipes.pageBytes();
        long end = offset + length;
        for (long at = offset; at < end; ) {
            int from = (int) (at % pageBytes);
            int to = (int) Math.min(pageBytes, from + end - at);
            page.addRange(pageOfBase(inode, at / pageBytes), from, to);
            at += to - from;
        }
    }

    /** Returns a page of the base; often the same as before. */
    private RecipePage pageOfBase(long inode, long number) throws IOException {
        if (inode != basePageInode || number != basePageNumber) {
            basePage = recipes.page(SnapshotIds.of(base, inode), number);
            basePageInode = inode;
            basePageNumber = number;
        }
        return basePage;
    }

    /** Replaces a page, and counts its bytes for the file, its owners and the volume. */
    private void replace(Inode file, long number, RecipePage page) throws IOException {
        long more = page.dataBytes() - recipes.page(file.id(), number).dataBytes();
        Account account = metadata.account(file);
        context.capacity().take(account, more, true);
        try {
            recipes.replace(file.id(), number, page);
        } catch (IOException | RuntimeException e) {
            context.capacity().change(account, -more);
            throw e;
        }
        metadata.count(account, more, 0);
        now = file.withBytes(file.size(), file.dataBytes() + more);
        namespace.put(now);
    }

    private void removePages(long inode, long first) throws IOException {
        long from = first;
        long[] pages = recipes.existingPages(inode, from, Long.MAX_VALUE, REMOVED_AT_ONCE);
        while (pages.length > 0) {
            for (long page : pages) {
                later(REMOVED_AT_ONCE / Long.BYTES, () -> replace(file(inode), page, RecipePage.EMPTY));
            }
            flush();
            from = pages[pages.length - 1] + 1;
            pages = recipes.existingPages(inode, from, Long.MAX_VALUE, REMOVED_AT_ONCE);
        }
    }

    private void removeNames(long directory) throws IOException {
        List<byte[]> names = new ArrayList<>();
        long[] next = {0};
        do {
            names.clear();
            namespace.list(directory, next[0], (name, inode, type, cookie) -> {
                names.add(name);
                next[0] = cookie;
                return names.size() < REMOVED_AT_ONCE;
            });
            for (byte[] name : names) {
                later(1, () -> namespace.removeEntry(directory, name));
            }
            flush();
        } while (!names.isEmpty());
    }

    static CorruptionException damaged(String expected, String found) {
        return new CorruptionException("the stream", -1, expected, found);
    }

    @Override
    public void close() {
        chunks.close();
        if (use != null) {
            use.close();
            use = null;
        }
    }
}
