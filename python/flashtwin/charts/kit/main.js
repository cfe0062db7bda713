// In this order: what the reader chose decides what is drawn.
startTheme();
startControls();
startPanels();
startZoom();
startFindings();
startExport();
