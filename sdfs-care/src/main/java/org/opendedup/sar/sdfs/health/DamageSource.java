package org.opendedup.sar.sdfs.health;

import java.io.IOException;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.NewDamageListener;

/** The damage of a mounted volume. */
public interface DamageSource {
    /**
     * Lists the files with damaged bytes, while the volume is in use.
     *
     * @param progress called for each inode; may end the list with an {@link java.io.InterruptedIOException}
     */
    DamageReport list(Progress progress) throws IOException;

    /** Sets the listener for new damage, and for its end; replaces the previous one. */
    void listen(NewDamageListener listener);
}
