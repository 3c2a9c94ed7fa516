package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import java.util.List;
import org.opendedup.sar.volume.care.DamageReport.Fault;

/** Lists what is damaged on a volume. */
@FunctionalInterface
public interface DamageList {
    List<Fault> list() throws IOException;
}
