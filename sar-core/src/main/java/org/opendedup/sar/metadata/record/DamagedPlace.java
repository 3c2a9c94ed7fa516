package org.opendedup.sar.metadata.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;

/**
 * A place in a container in which damage was found: a frame, or a range of slots.
 *
 * @param firstSlot first slot of the range
 * @param endSlot slot after the last one; the counts tell which of these slots are damaged now
 */
public record DamagedPlace(long container, int firstSlot, int endSlot, DamageNote note) {
    private static final int VERSION = 1;

    /** Maximum length of a stored reason, in characters. */
    private static final int MAX_REASON = 200;

    public byte[] encode() {
        String reason = note.reason();
        int cut = Math.min(reason.length(), MAX_REASON);
        byte[] text = reason.substring(0, cut).getBytes(UTF_8);
        return new ValueWriter(32 + text.length)
                .writeByte(VERSION)
                .writeVarint(endSlot)
                .writeVarint(note.frame() + 1)
                .writeByte(note.how().ordinal())
                .writeZigzag(note.foundMs())
                .writeVarint(text.length)
                .writeBytes(text)
                .toBytes();
    }

    public static DamagedPlace decode(long container, int firstSlot, byte[] value)
            throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "damage of container", container).expectVersion(VERSION);
        int endSlot = (int) in.readVarint(Integer.MAX_VALUE);
        int frame = (int) in.readVarint(Integer.MAX_VALUE) - 1;
        int how = (int) in.readVarint(DamageNote.How.values().length - 1);
        long foundMs = in.readZigzag();
        byte[] text = in.readBytes((int) in.readVarint(in.remaining()));
        in.expectEnd();
        String reason = new String(text, UTF_8);
        return new DamagedPlace(
                container, firstSlot, endSlot, new DamageNote(frame, DamageNote.How.values()[how], foundMs, reason));
    }
}
