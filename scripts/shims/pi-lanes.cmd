@echo off
if "%PI_LANES_NODE%"=="" (set "PI_LANES_NODE=node")
"%PI_LANES_NODE%" "%~dp0..\cli.mjs" %*
