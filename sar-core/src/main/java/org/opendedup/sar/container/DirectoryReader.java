package org.opendedup.sar.container;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerFormat.Footer;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.FrameTable;
import org.opendedup.sar.io.Input;

/**
 * Reads the footer, frame table and directory of a sealed container. Allocates no more memory than the format allows.
 */
final class DirectoryReader {
    private final Input input;
    private final long container;
    private final String place;
    private final ContainerCipher cipher;
    private final ReadStatistics statistics;

    /**
     * @param input the bytes of the container
     * @param place names the container in messages
     * @param cipher that of the volume
     * @param statistics counts each read
     */
    DirectoryReader(Input input, long container, String place, ContainerCipher cipher, ReadStatistics statistics) {
        this.input = input;
        this.container = container;
        this.place = place;
        this.cipher = cipher;
        this.statistics = statistics;
    }

    private byte[] read(long offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        statistics.add(length);
        input.readFully(offset, ByteBuffer.wrap(bytes));
        return bytes;
    }

    Footer footer() throws IOException {
        long bytes = input.length();
        if (bytes < ContainerFormat.HEADER_BYTES + ContainerFormat.FOOTER_BYTES) {
            throw new CorruptionException(place, bytes, "a sealed container", "one of " + bytes + " bytes");
        }
        byte[] footer = read(bytes - ContainerFormat.FOOTER_BYTES, ContainerFormat.FOOTER_BYTES);
        return ContainerFormat.readFooter(footer, container, bytes, cipher, place);
    }

    FrameTable frameTable() throws IOException {
        Footer footer = footer();
        byte[] bytes = read(footer.directoryOffset(), footer.tableBytes());
        return checkGeneration(FrameTable.decode(bytes, footer.identity().salt(), place), footer);
    }

    /** Reads the directory, and checks header and footer as well. */
    SealedContainer directory() throws IOException {
        Footer footer = footer();
        ContainerIdentity header =
                ContainerFormat.readHeader(read(0, ContainerFormat.HEADER_BYTES), container, cipher, place);
        if (!header.equals(footer.identity())) {
            throw new CorruptionException(place, 0, footer.identity().toString(), header.toString());
        }
        return directory(footer);
    }

    /** Reads the directory, and checks the footer as well. */
    SealedContainer directoryWithoutHeader() throws IOException {
        return directory(footer());
    }

    private SealedContainer directory(Footer footer) throws IOException {
        byte[] bytes = read(footer.directoryOffset(), footer.directoryBytes());
        SealedContainer sealed = SealedContainer.decode(container, bytes, footer, cipher, place);
        checkGeneration(sealed.frameTable(), footer);
        return sealed;
    }

    private FrameTable checkGeneration(FrameTable table, Footer footer) throws CorruptionException {
        if (!table.writing().equals(footer.identity().writing())) {
            throw new CorruptionException(
                    place,
                    footer.directoryOffset(),
                    footer.identity().writing().toString(),
                    table.writing().toString());
        }
        return table;
    }
}
