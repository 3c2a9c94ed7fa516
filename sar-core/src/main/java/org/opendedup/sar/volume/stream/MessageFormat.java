package org.opendedup.sar.volume.stream;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.primitives.Bytes;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.ContentHash;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compression.Codec;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.SnapshotIdentity;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;
import org.opendedup.sar.volume.stream.StreamMessage.Answer;
import org.opendedup.sar.volume.stream.StreamMessage.Attribute;
import org.opendedup.sar.volume.stream.StreamMessage.Attributes;
import org.opendedup.sar.volume.stream.StreamMessage.Changed;
import org.opendedup.sar.volume.stream.StreamMessage.ChunkList;
import org.opendedup.sar.volume.stream.StreamMessage.Chunks;
import org.opendedup.sar.volume.stream.StreamMessage.End;
import org.opendedup.sar.volume.stream.StreamMessage.Greeting;
import org.opendedup.sar.volume.stream.StreamMessage.Name;
import org.opendedup.sar.volume.stream.StreamMessage.Names;
import org.opendedup.sar.volume.stream.StreamMessage.Offer;
import org.opendedup.sar.volume.stream.StreamMessage.Pages;
import org.opendedup.sar.volume.stream.StreamMessage.Received;
import org.opendedup.sar.volume.stream.StreamMessage.Refused;
import org.opendedup.sar.volume.stream.StreamMessage.Removed;
import org.opendedup.sar.volume.stream.StreamMessage.Start;

/**
 * The bytes of messages: a byte for the kind, then the fields of the record in their order. Numbers are varints, those
 * that may fall zigzags; a list has its length first; texts and names have theirs. docs/FORMAT.md has each of them. For
 * one thread at a time.
 */
final class MessageFormat implements Closeable {
    /** Most bytes of chunks in one message: those of the largest chunk. */
    static final int MOST_CHUNK_BYTES = 16 << 20;

    /** What Linux allows (XATTR_SIZE_MAX). */
    private static final int MOST_ATTRIBUTE_BYTES = 64 << 10;

    private static final int MOST_PAGE_BYTES = 1 << 30;
    private static final int SOURCE_BITS = 2;
    private static final int SOURCE_MASK = (1 << SOURCE_BITS) - 1;
    /** zstd's level 3 compresses faster than the network that a stream usually passes through. */
    private static final Compression COMPRESSION = new Compression(Codec.ZSTD, 3, 256 << 10);

    /** What a message is. The letters are the format. */
    private enum Kind {
        START('S'),
        REMOVED('R'),
        CHANGED('I'),
        ATTRIBUTES('A'),
        NAMES('N'),
        OFFER('O'),
        CHUNKS('C'),
        PAGES('P'),
        END('E'),
        GREETING('g'),
        ANSWER('a'),
        RECEIVED('r'),
        REFUSED('f');

        private final int letter;

        Kind(char letter) {
            this.letter = letter;
        }

        static @Nullable Kind of(int letter) {
            return Arrays.stream(values())
                    .filter(kind -> kind.letter == letter)
                    .findFirst()
                    .orElse(null);
        }
    }

    private final Compressor compressor = new Compressor(COMPRESSION);

    // --- writing

    byte[] encode(StreamMessage message) {
        ValueWriter out = new ValueWriter(64);
        if (message instanceof Start start) {
            encode(start, begin(out, Kind.START));
        } else if (message instanceof Removed removed) {
            begin(out, Kind.REMOVED).writeVarint(removed.inode());
        } else if (message instanceof Changed changed) {
            Inode inode = changed.inode();
            begin(out, Kind.CHANGED).writeVarint(inode.id()).writeBytes(Inode.encode(inode));
        } else if (message instanceof Attributes attributes) {
            encode(attributes, begin(out, Kind.ATTRIBUTES));
        } else if (message instanceof Names names) {
            encode(names, begin(out, Kind.NAMES));
        } else if (message instanceof Offer offer) {
            encode(offer.chunks(), begin(out, Kind.OFFER));
        } else if (message instanceof Chunks chunks) {
            encode(chunks, begin(out, Kind.CHUNKS));
        } else if (message instanceof Pages pages) {
            encode(pages, begin(out, Kind.PAGES));
        } else if (message instanceof End end) {
            begin(out, Kind.END)
                    .writeVarint(end.removed())
                    .writeVarint(end.changed())
                    .writeVarint(end.chunks())
                    .writeVarint(end.chunkBytes());
        } else if (message instanceof Greeting greeting) {
            encode(greeting, begin(out, Kind.GREETING));
        } else if (message instanceof Answer answer) {
            begin(out, Kind.ANSWER).writeBytes(answer.lacking());
        } else if (message instanceof Received) {
            begin(out, Kind.RECEIVED);
        } else if (message instanceof Refused refused) {
            begin(out, Kind.REFUSED).writeBytes(refused.why().getBytes(UTF_8));
        }
        return out.toBytes();
    }

    private static ValueWriter begin(ValueWriter out, Kind kind) {
        return out.writeByte(kind.letter);
    }

    private static void encode(Start start, ValueWriter out) {
        start.point().write(out);
        out.writeVarint(start.pageBytes())
                .writeVarint(start.hash().ordinal())
                .writeZigzag(start.heldUntilMs())
                .writeByte(start.isScheduled() ? 1 : 0)
                .writeVarint(start.firstInode())
                .writeZigzag(start.logicalBytes())
                .writeZigzag(start.files())
                .writeBytes(start.name().getBytes(UTF_8));
    }

    private static void encode(Attributes attributes, ValueWriter out) {
        out.writeVarint(attributes.inode()).writeVarint(attributes.attributes().size());
        for (Attribute attribute : attributes.attributes()) {
            byte[] value = attribute.value();
            writeText(attribute.name(), out).writeVarint(value == null ? 0 : value.length + 1L);
            if (value != null) {
                out.writeBytes(value);
            }
        }
    }

    private static void encode(Names names, ValueWriter out) {
        out.writeVarint(names.directory()).writeVarint(names.names().size());
        for (Name name : names.names()) {
            writeText(name.name(), out).writeVarint(name.inode());
            if (name.inode() != 0) {
                out.writeVarint(name.type());
            }
        }
    }

    private static ValueWriter writeText(byte[] text, ValueWriter out) {
        return out.writeVarint(text.length).writeBytes(text);
    }

    private static void encode(ChunkList chunks, ValueWriter out) {
        out.writeVarint(chunks.count());
        long next = 0;
        for (int i = 0; i < chunks.count(); i++) {
            out.writeZigzag(chunks.ids()[i] - next).writeVarint(chunks.lengths()[i]);
            next = chunks.ids()[i] + 1;
        }
        out.writeBytes(chunks.fingerprints());
    }

    private void encode(Chunks chunks, ValueWriter out) {
        encode(chunks.chunks(), out);
        byte[] data = chunks.data();
        byte[] compressed = new byte[compressor.bound(data.length)];
        int length = compressor.compress(data, 0, data.length, compressed, 0);
        out.writeByte(length > 0 ? Codec.ZSTD.code() : Codec.NONE.code());
        out.writeBytes(length > 0 ? Arrays.copyOf(compressed, length) : data);
    }

    private static void encode(Pages pages, ValueWriter out) {
        out.writeVarint(pages.inode()).writeVarint(pages.pages().size());
        long next = 0;
        long nextChunk = 0;
        for (StreamPage page : pages.pages()) {
            out.writeVarint(page.number() - next).writeVarint(page.count());
            next = page.number() + 1;
            for (int entry = 0; entry < page.count(); entry++) {
                StreamPage.Source source = page.source(entry);
                out.writeVarint((long) page.length(entry) << SOURCE_BITS | source.ordinal());
                switch (source) {
                    case ZEROS -> {}
                    case BASE -> out.writeVarint(page.baseOffset(entry));
                    case CHUNK -> {
                        out.writeZigzag(page.chunkId(entry) - nextChunk).writeVarint(page.chunkOffset(entry));
                        nextChunk = page.chunkId(entry) + 1;
                    }
                }
            }
        }
    }

    private static void encode(Greeting greeting, ValueWriter out) {
        out.writeVarint(greeting.pageBytes())
                .writeVarint(greeting.hash().ordinal())
                .writeVarint(greeting.snapshots().size());
        greeting.snapshots().forEach(snapshot -> snapshot.write(out));
        StreamPoint reached = greeting.reached();
        out.writeByte(reached == null ? 0 : 1);
        if (reached != null) {
            reached.write(out);
        }
    }

    // --- reading

    /** @param number number of the message in its stream, for errors */
    StreamMessage decode(byte[] bytes, String stream, long number)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = ValueReader.of(bytes, stream, "message", number);
        int letter = in.readByte();
        Kind kind = Kind.of(letter);
        if (kind == null) {
            throw in.corruption("a kind of message", "'" + (char) letter + "'");
        }
        StreamMessage message = switch (kind) {
            case START -> start(in);
            case REMOVED -> removed(in);
            case CHANGED -> changed(in);
            case ATTRIBUTES -> attributes(in);
            case NAMES -> names(in);
            case OFFER -> new Offer(chunkList(in));
            case CHUNKS -> chunks(in);
            case PAGES -> pages(in);
            case END -> new End(count(in), count(in), count(in), count(in));
            case GREETING -> greeting(in);
            case ANSWER -> new Answer(in.readBytes(in.remaining()));
            case RECEIVED -> new Received();
            case REFUSED -> new Refused(new String(in.readBytes(in.remaining()), UTF_8));
        };
        in.expectEnd();
        return message;
    }

    static boolean isEnd(byte[] message) {
        return message.length > 0 && message[0] == Kind.END.letter;
    }

    private static long count(ValueReader in) throws CorruptionException {
        return in.readVarint(Long.MAX_VALUE);
    }

    private static long inode(ValueReader in) throws CorruptionException {
        long inode = in.readVarint(SnapshotIds.MAX_INODE);
        if (inode < Inode.ROOT) {
            throw in.corruption("the number of an inode", String.valueOf(inode));
        }
        return inode;
    }

    private static Removed removed(ValueReader in) throws CorruptionException {
        long inode = inode(in);
        if (inode == Inode.ROOT) {
            throw in.corruption("an inode that can be removed", "the root");
        }
        return new Removed(inode);
    }

    /** Returns the length of a list whose elements have at least {@code bytes} bytes each. */
    private static int size(ValueReader in, int bytes) throws CorruptionException {
        int size = (int) in.readVarint(Integer.MAX_VALUE);
        if (size > in.remaining() / bytes) {
            throw in.corruption("as many elements as there are bytes for", String.valueOf(size));
        }
        return size;
    }

    private static byte[] text(ValueReader in, int most) throws CorruptionException {
        return in.readBytes((int) in.readVarint(Math.min(most, in.remaining())));
    }

    private static int pageBytes(ValueReader in) throws CorruptionException {
        int bytes = (int) in.readVarint(MOST_PAGE_BYTES);
        if (Integer.bitCount(bytes) != 1) {
            throw in.corruption("a power of two", String.valueOf(bytes));
        }
        return bytes;
    }

    private static ContentHash hash(ValueReader in) throws CorruptionException {
        return ContentHash.values()[(int) in.readVarint(ContentHash.values().length - 1)];
    }

    private static Start start(ValueReader in) throws CorruptionException {
        StreamPoint point = StreamPoint.read(in);
        int pageBytes = pageBytes(in);
        ContentHash hash = hash(in);
        long heldUntilMs = in.readZigzag();
        boolean isScheduled = in.readVarint(1) == 1;
        long firstInode = in.readVarint(SnapshotIds.MAX_INODE + 1);
        long logicalBytes = in.readZigzag();
        long files = in.readZigzag();
        byte[] name = in.readBytes(in.remaining());
        if (!EntryNames.isValid(name)) {
            throw in.corruption("the name of a snapshot", EntryNames.text(name));
        }
        return new Start(
                point,
                pageBytes,
                hash,
                new String(name, UTF_8),
                heldUntilMs,
                isScheduled,
                firstInode,
                logicalBytes,
                files);
    }

    private static Changed changed(ValueReader in) throws CorruptionException, UnsupportedFormatException {
        long id = inode(in);
        Inode inode = Inode.decode(id, in.readBytes(in.remaining()));
        if (inode.links() == 0 || !isType(inode.type())) {
            throw in.corruption("an inode with names and a type", String.format("mode %o", inode.mode()));
        }
        return new Changed(inode);
    }

    private static boolean isType(int type) {
        return switch (type) {
            case Modes.DIRECTORY,
                    Modes.REGULAR,
                    Modes.SYMBOLIC_LINK,
                    Modes.FIFO,
                    Modes.SOCKET,
                    Modes.CHARACTER_DEVICE,
                    Modes.BLOCK_DEVICE -> true;
            default -> false;
        };
    }

    private static Attributes attributes(ValueReader in) throws CorruptionException {
        long inode = inode(in);
        int size = size(in, 2);
        List<Attribute> attributes = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            byte[] name = text(in, EntryNames.MAX_BYTES);
            long length = in.readVarint(Math.min(MOST_ATTRIBUTE_BYTES, in.remaining()) + 1L);
            if (name.length == 0 || Bytes.contains(name, (byte) 0)) {
                throw in.corruption("the name of an attribute", EntryNames.text(name));
            }
            attributes.add(new Attribute(name, length == 0 ? null : in.readBytes((int) length - 1)));
        }
        return new Attributes(inode, attributes);
    }

    private static Names names(ValueReader in) throws CorruptionException {
        long directory = inode(in);
        int size = size(in, 3);
        List<Name> names = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            byte[] name = text(in, EntryNames.MAX_BYTES);
            long inode = in.readVarint(SnapshotIds.MAX_INODE);
            int type = inode == 0 ? 0 : (int) in.readVarint(Modes.TYPE);
            if (!EntryNames.isValid(name) || inode != 0 && !isType(type)) {
                throw in.corruption("a name and a type", EntryNames.text(name));
            }
            names.add(new Name(name, inode, type));
        }
        return new Names(directory, names);
    }

    private static ChunkList chunkList(ValueReader in) throws CorruptionException {
        int count = size(in, 2 + Fingerprints.BYTES);
        long[] ids = new long[count];
        int[] lengths = new int[count];
        long next = 0;
        for (int i = 0; i < count; i++) {
            ids[i] = next + in.readZigzag();
            lengths[i] = (int) in.readVarint(MOST_CHUNK_BYTES);
            if (ids[i] <= ChunkId.NONE || lengths[i] == 0) {
                throw in.corruption("a chunk with an id and bytes", ids[i] + " with " + lengths[i] + " bytes");
            }
            next = ids[i] + 1;
        }
        return new ChunkList(ids, lengths, in.readBytes(count * Fingerprints.BYTES));
    }

    private Chunks chunks(ValueReader in) throws CorruptionException {
        ChunkList list = chunkList(in);
        if (list.bytes() > MOST_CHUNK_BYTES) {
            throw in.corruption("at most " + MOST_CHUNK_BYTES + " bytes of chunks", list.bytes() + " bytes");
        }
        boolean isCompressed = in.readVarint(Codec.ZSTD.code()) == Codec.ZSTD.code();
        byte[] stored = in.readBytes(in.remaining());
        byte[] data = new byte[(int) list.bytes()];
        String problem = compressor.decompress(isCompressed ? Codec.ZSTD : Codec.NONE, stored, 0, stored.length, data);
        if (problem != null) {
            throw in.corruption(data.length + " bytes of chunks", problem);
        }
        return new Chunks(list, data);
    }

    private static Pages pages(ValueReader in) throws CorruptionException {
        long inode = inode(in);
        int size = size(in, 2);
        List<StreamPage> pages = new ArrayList<>(size);
        StreamPage.Builder builder = new StreamPage.Builder();
        long next = 0;
        long nextChunk = 0;
        for (int i = 0; i < size; i++) {
            long number = next + in.readVarint(Long.MAX_VALUE - next);
            int entries = size(in, 1);
            long bytes = 0;
            for (int entry = 0; entry < entries; entry++) {
                long head = in.readVarint((long) Integer.MAX_VALUE << SOURCE_BITS | SOURCE_MASK);
                int length = (int) (head >>> SOURCE_BITS);
                int source = (int) (head & SOURCE_MASK);
                bytes += length;
                if (length == 0 || bytes > MOST_PAGE_BYTES || source >= StreamPage.Source.values().length) {
                    throw in.corruption("an entry of a page", String.valueOf(head));
                }
                switch (StreamPage.Source.values()[source]) {
                    case ZEROS -> builder.addZeros(length);
                    case BASE -> builder.addBase(in.readVarint(Long.MAX_VALUE - length), length);
                    case CHUNK -> {
                        long chunk = nextChunk + in.readZigzag();
                        if (chunk <= ChunkId.NONE) {
                            throw in.corruption("the id of a chunk", String.valueOf(chunk));
                        }
                        builder.addChunk(chunk, (int) in.readVarint(MOST_CHUNK_BYTES - length), length);
                        nextChunk = chunk + 1;
                    }
                }
            }
            pages.add(builder.build(number));
            next = number == Long.MAX_VALUE ? number : number + 1;
        }
        return new Pages(inode, pages);
    }

    private static Greeting greeting(ValueReader in) throws CorruptionException {
        int pageBytes = pageBytes(in);
        ContentHash hash = hash(in);
        int size = size(in, 18);
        List<SnapshotIdentity> snapshots = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            snapshots.add(SnapshotIdentity.read(in));
        }
        StreamPoint reached = in.readVarint(1) == 0 ? null : StreamPoint.read(in);
        return new Greeting(pageBytes, hash, snapshots, reached);
    }

    @Override
    public void close() {
        compressor.close();
    }
}
