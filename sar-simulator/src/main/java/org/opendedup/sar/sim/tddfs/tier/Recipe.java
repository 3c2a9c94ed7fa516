package org.opendedup.sar.sim.tddfs.tier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The chunks of a file in their order (TDDFS paper, section 3.3). An entry is the number of a content, from 0; or,
 * below 0, a modified chunk, which belongs to this file alone and has no fingerprint yet: the paper's Modification
 * Flag, as the negated number of its bytes.
 *
 * <p>Entries lie in blocks, so that finding an offset and replacing a range pass few of a large file's entries. For one
 * thread.
 */
public final class Recipe {
    private static final int BLOCK_ENTRIES = 512;

    private final Contents contents;
    private final List<Block> blocks = new ArrayList<>();
    private int size;
    private long bytes;
    /** The block used last: most accesses go from one entry to the next. */
    private int lastBlock;

    private static final class Block {
        int[] entries = new int[4];
        int count;
        int firstIndex;
        long bytes;

        void add(int entry, int entryBytes) {
            if (count == entries.length) {
                entries = Arrays.copyOf(entries, Math.min(BLOCK_ENTRIES, 4 * count));
            }
            entries[count++] = entry;
            bytes += entryBytes;
        }
    }

    public Recipe(Contents contents) {
        this.contents = contents;
    }

    /** Appends an entry. */
    public void add(int entry) {
        Block last = blocks.isEmpty() ? null : blocks.get(blocks.size() - 1);
        if (last == null || last.count == BLOCK_ENTRIES) {
            last = new Block();
            last.firstIndex = size;
            blocks.add(last);
        }
        int entryBytes = bytesOf(entry);
        last.add(entry, entryBytes);
        size++;
        bytes += entryBytes;
    }

    /** Appends a modified chunk of that many bytes. */
    public void addModified(int chunkBytes) {
        add(-chunkBytes);
    }

    /** Marks an entry as modified. Its length stays the same. */
    public void modify(int index) {
        Block block = blockOf(index);
        int place = index - block.firstIndex;
        block.entries[place] = -bytesOf(block.entries[place]);
    }

    /** Returns whether an entry was modified since the file was deduplicated. */
    public static boolean isModified(int entry) {
        return entry < 0;
    }

    public int entry(int index) {
        Block block = blockOf(index);
        return block.entries[index - block.firstIndex];
    }

    private Block blockOf(int index) {
        Block block = blocks.get(Math.min(lastBlock, blocks.size() - 1));
        if (index >= block.firstIndex && index < block.firstIndex + block.count) {
            return block;
        }
        int low = 0;
        int high = blocks.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (blocks.get(middle).firstIndex <= index) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        lastBlock = low;
        return blocks.get(low);
    }

    /** Returns the bytes of an entry. */
    public int bytes(int index) {
        return bytesOf(entry(index));
    }

    private int bytesOf(int entry) {
        return entry < 0 ? -entry : contents.length(entry);
    }

    /** Returns the bytes of the file. */
    public long bytes() {
        return bytes;
    }

    /** Returns the number of entries. */
    public int size() {
        return size;
    }

    /**
     * Returns the range of entries that have bytes of a range of the file.
     *
     * @param from first byte
     * @param end offset after the last byte; bytes beyond the file's end have no entries
     */
    public Range find(long from, long end) {
        Place first = place(from);
        if (end <= first.byteOffset()) {
            return new Range(first.index(), first.index(), first.byteOffset(), first.byteOffset());
        }
        Place last = place(end - 1);
        if (last.index() == size) {
            return new Range(first.index(), size, first.byteOffset(), bytes);
        }
        return new Range(first.index(), last.index() + 1, first.byteOffset(), last.byteOffset() + bytes(last.index()));
    }

    private record Place(int index, long byteOffset) {}

    /** Returns the entry that has a byte, and the offset of its first byte. */
    private Place place(long offset) {
        long start = 0;
        for (Block block : blocks) {
            if (start + block.bytes <= offset) {
                start += block.bytes;
                continue;
            }
            for (int i = 0; i < block.count; i++) {
                int entryBytes = bytesOf(block.entries[i]);
                if (start + entryBytes > offset) {
                    return new Place(block.firstIndex + i, start);
                }
                start += entryBytes;
            }
        }
        return new Place(size, bytes);
    }

    /**
     * Consecutive entries.
     *
     * @param from first entry
     * @param to the one after the last
     * @param startByte offset in the file of the first entry's first byte
     * @param endByte offset after the last entry's last byte
     */
    public record Range(int from, int to, long startByte, long endByte) {
        public int size() {
            return to - from;
        }
    }

    /** Replaces a range of entries by those of another recipe. */
    public void replace(Range replaced, Recipe replacement) {
        Recipe result = new Recipe(contents);
        int from = blocks.size();
        int to = 0;
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            if (block.firstIndex + block.count > replaced.from() && block.firstIndex < replaced.to()) {
                from = Math.min(from, i);
                to = i + 1;
            }
        }
        if (to == 0) {
            // Nothing is replaced: the others are appended.
            for (int i = 0; i < replacement.size(); i++) {
                add(replacement.entry(i));
            }
            return;
        }
        for (int i = blocks.get(from).firstIndex; i < replaced.from(); i++) {
            result.add(entry(i));
        }
        for (int i = 0; i < replacement.size(); i++) {
            result.add(replacement.entry(i));
        }
        Block last = blocks.get(to - 1);
        for (int i = replaced.to(); i < last.firstIndex + last.count; i++) {
            result.add(entry(i));
        }
        List<Block> range = blocks.subList(from, to);
        range.clear();
        range.addAll(result.blocks);
        renumber();
    }

    private void renumber() {
        size = 0;
        bytes = 0;
        for (Block block : blocks) {
            block.firstIndex = size;
            size += block.count;
            bytes += block.bytes;
        }
        lastBlock = 0;
    }
}
